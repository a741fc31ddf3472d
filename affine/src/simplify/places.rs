//! Place values: the digits of one number in a sum, written with as few operations as can be.
//!
//! A digit is a difference of floors, `(x // k) mod c = x // k − c·(x // (k·c))`. So the digits of `x` in a sum are one sum
//! `Σ w·(x // k)` over divisors `k`, however they were written, and where each `k` divides the next no other weights `w` give
//! the same. Let `u = w/k`; a digit from `k` up to `n` has `u` at `k` and `−u` at `n`. Then
//!
//! - two places with opposite `u` are one digit, of two operations, or of one where `k` is 1;
//! - any other place is `w·(x // k)` or `−u·(x mod k) + u·x`, one operation either way.
//!
//! Every digit takes away at most the `u` of two places, so nothing needs fewer operations.

use smallvec::SmallVec;

use super::digits::{Stretch, stretch};
use super::normal::Normalizer;
use super::rules::modulo;
use super::rules::sum::DIFFERENCE_OF_FLOORDIVS;
use crate::expr::OPERATION_COST;
use crate::{Atom, Expr, Var};

pub(super) type Stretches = SmallVec<[Stretch; 8]>;
pub(super) type Places = SmallVec<[Place; 8]>;

/// `w·(x // k)`.
#[derive(Copy, Clone)]
pub(super) struct Place {
    pub(super) k: i64,
    pub(super) w: i64,
}

impl Place {
    /// True for the places of one digit: opposite weights, counted in units of the place.
    fn is_closed_by(self, other: Place) -> bool {
        i128::from(self.w) * i128::from(other.k) == -i128::from(other.w) * i128::from(self.k)
    }
}

impl Normalizer {
    /// The sum `rest` with the digits `old` of `x` written the cheapest way, and that way, where it is cheaper than `e` and its
    /// range no wider.
    pub(super) fn cheapest_digits(
        &mut self,
        e: &Expr,
        rest: &Expr,
        x: &Expr,
        old: &Stretches,
    ) -> Option<(Expr, Stretches)> {
        let (digits, singles) = paired(&places(old)?)?;
        let mut best: Option<(Expr, Stretches)> = None;
        for is_remainder in choices(&singles) {
            let Some(new) = written(&digits, &singles, is_remainder) else { continue };
            if expense(x, &new) >= expense(x, old) {
                continue;
            }
            let Some(sum) = self.with_digits(rest, x, &new) else { continue };
            let is_cheaper = sum.cost() < best.as_ref().map_or(e, |(known, _)| known).cost();
            if is_cheaper && (sum.is_linear() || self.does_not_widen(e, &sum)) {
                best = Some((sum, new));
            }
        }
        best
    }

    /// `rest` and these stretches of `x`, in normal form.
    pub(super) fn with_digits(&mut self, rest: &Expr, x: &Expr, new: &[Stretch]) -> Option<Expr> {
        let mut sum = rest.clone();
        for s in new {
            let above = self.quotient(x, s.low);
            let digit = match s.high {
                Some(high) => self.remainder(&above, high / s.low),
                None => above,
            };
            sum = sum.checked_add_scaled(&digit, s.a).ok()?;
        }
        Some(sum)
    }

    /// Records that the stretches have the same floors.
    pub(super) fn note_stretches(&mut self, x: &Expr, old: &[Stretch], new: &[Stretch]) {
        for s in old.iter().filter(|s| !new.contains(s)).chain(new.iter().filter(|s| !old.contains(s))) {
            self.note_floors(x, *s);
        }
    }

    /// The digit as a difference of floors.
    fn note_floors(&mut self, x: &Expr, s: Stretch) -> Option<()> {
        let high = s.high?;
        let c = high / s.low;
        let (digit, below, above) = (s.digit(x)?, x.checked_floor_div(s.low).ok()?, x.checked_floor_div(high).ok()?);
        let floors = below.checked_add_scaled(&above, c.checked_neg()?).ok()?;
        if s.low == 1 {
            self.noted(modulo::DEFINITION, [('x', x)], [('c', c)], &digit, &floors);
        } else {
            self.noted(DIFFERENCE_OF_FLOORDIVS, [('x', x)], [('k', s.low), ('c', c)], &floors, &digit);
        }
        Some(())
    }
}

/// The stretches as one sum of floors, the divisors growing and each dividing the next; nothing where they do not.
pub(super) fn places(stretches: &[Stretch]) -> Option<Places> {
    let mut places = Places::new();
    for s in stretches {
        places.push(Place { k: s.low, w: s.a });
        if let Some(high) = s.high {
            places.push(Place { k: high, w: s.a.checked_mul(high / s.low)?.checked_neg()? });
        }
    }
    places.sort_unstable_by_key(|place| place.k);
    let mut merged = Places::new();
    for place in places {
        match merged.last_mut() {
            Some(last) if last.k == place.k => last.w = last.w.checked_add(place.w)?,
            Some(last) if place.k % last.k != 0 => return None,
            _ => merged.push(place),
        }
    }
    merged.retain(|place| place.w != 0);
    Some(merged)
}

/// The digits that pairs of places make, from the lowest, and the places left over.
fn paired(places: &[Place]) -> Option<(Stretches, Places)> {
    let mut digits = Stretches::new();
    let mut left = Places::from(places);
    let mut i = 0;
    while let Some(low) = left.get(i).copied() {
        i += 1;
        let Some(j) = left.iter().skip(i).position(|place| low.is_closed_by(*place)) else { continue };
        digits.push(Stretch { a: low.w, low: low.k, high: Some(left.get(i + j)?.k) });
        left.remove(i + j);
        i -= 1;
        left.remove(i);
    }
    Some((digits, left))
}

/// Which of the single places to write as remainders: none, all, one, or all but one.
fn choices(singles: &[Place]) -> impl Iterator<Item = impl Fn(usize) -> bool> {
    let one = (0..singles.len()).flat_map(|one| [(Some(one), false), (Some(one), true)]);
    [(None, false), (None, true)].into_iter().chain(one).map(|(one, others)| move |i| (one == Some(i)) != others)
}

/// The digits, and the single places as quotients or, where that leaves whole factors, as remainders.
fn written(digits: &[Stretch], singles: &[Place], is_remainder: impl Fn(usize) -> bool) -> Option<Stretches> {
    let mut all = Stretches::from(digits);
    let mut whole: i64 = 0;
    for (i, place) in singles.iter().enumerate() {
        if place.k == 1 {
            whole = whole.checked_add(place.w)?;
        } else if is_remainder(i) && place.w % place.k == 0 {
            let u = place.w / place.k;
            all.push(Stretch { a: u.checked_neg()?, low: 1, high: Some(place.k) });
            whole = whole.checked_add(u)?;
        } else {
            all.push(Stretch { a: place.w, low: place.k, high: None });
        }
    }
    if whole != 0 {
        all.push(Stretch { a: whole, low: 1, high: None });
    }
    Some(all)
}

/// What the stretches of `x` cost, as [`Expr::cost`] has it.
fn expense(x: &Expr, stretches: &[Stretch]) -> u64 {
    let factor = |a: i64| u64::from(a != 1);
    let cost = |s: &Stretch| match (s.low, s.high) {
        (1, None) => {
            let terms = x.terms().iter().map(|t| 1 + factor(t.coefficient.saturating_mul(s.a)));
            terms.sum::<u64>() + u64::from(x.constant_term() != 0)
        }
        (1, _) | (_, None) => x.cost().saturating_add(OPERATION_COST + factor(s.a)),
        _ => x.cost().saturating_add(2 * OPERATION_COST + factor(s.a)),
    };
    stretches.iter().fold(0, |sum, s| sum.saturating_add(cost(s)))
}

/// True where the sum knows the variable only in digits that [`Normalizer::placed`] wrote the cheapest way.
pub(super) fn are_placed(e: &Expr, v: Var) -> bool {
    let mut all = Stretches::new();
    for term in e.terms() {
        match &term.atom {
            Atom::Var(w) if *w == v => all.push(Stretch { a: term.coefficient, low: 1, high: None }),
            _ => all.extend(stretch(term).filter(|(x, _)| x.as_var() == Some(v)).map(|(_, s)| s)),
        }
    }
    all.len() < 2 || places(&all).is_some()
}
