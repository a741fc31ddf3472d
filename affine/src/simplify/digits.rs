//! Digits of one number in a sum: split where a division needs it, and joined in the cheapest way.
//!
//! `x // k` is what is left of `x` above `k`, `(x // k) mod c` the digit between `k` and `k·c`, and `x mod k` what lies below
//! `k`. A whole sum is cheapest where these overlap, as in `d0 mod 8 + 63·(d0 mod 2)`; but what a division or remainder does
//! to it shows only over digits that do not, here `2·((d0 // 2) mod 4) + 64·(d0 mod 2)`.
//!
//! A digit is a difference of floors, `(x // k) mod c = x // k − c·(x // (k·c))`. So the digits of `x` in a sum are one sum
//! `Σ w·(x // k)` over divisors `k`, however they were written, and where each `k` divides the next no other weights `w` give
//! the same. Let `u = w/k`; a digit from `k` up to `n` has `u` at `k` and `−u` at `n`. Then
//!
//! - two floors with opposite `u` are one digit, of two operations, or of one where `k` is 1;
//! - any other floor is `w·(x // k)` or `−u·(x mod k) + u·x`, one operation either way.
//!
//! Every digit takes away at most the `u` of two floors, so nothing needs fewer operations.

use smallvec::SmallVec;

use super::normal::Normalizer;
use super::recombine::factor_in;
use super::rules::sum::{DIFFERENCE_OF_FLOORDIVS, DIFFERENCE_OF_MODS, JOIN_ADJACENT_DIGITS};
use super::rules::{floordiv, modulo};
use crate::expr::{OPERATION_COST, Terms};
use crate::{Atom, Expr, Law, Term, Var};

/// Sums with more terms than this are left alone: each term is compared with each.
const MAX_TERMS: usize = 32;

/// `a` times the digits of a number from `low` up to `high`, which divides it, or to the top.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) struct DigitRange {
    pub(super) a: i64,
    pub(super) low: i64,
    pub(super) high: Option<i64>,
}

impl Normalizer {
    /// The sum over digits of which no two overlap; nothing where that is what it is.
    pub(super) fn digits(&mut self, e: &Expr) -> Option<Expr> {
        if e.terms().len() > MAX_TERMS || e.is_linear() {
            return None;
        }
        let whole = self.wholes_taken_out(e);
        let mut result = whole.clone();
        let e = whole.as_ref().unwrap_or(e);
        for (i, term) in e.terms().iter().enumerate() {
            let Some((x, _)) = digit_range(term) else { continue };
            let is_known = |earlier: &Term| digit_range(earlier).is_some_and(|(y, _)| x == y);
            if e.terms().iter().take(i).any(is_known) {
                continue;
            }
            if let Some(next) = self.refined(result.as_ref().unwrap_or(e), x) {
                result = Some(next);
            }
        }
        result
    }

    /// `a·((c·y + z) // c) = a·y + a·(z // c)`, the coefficients of `z` less than `c`.
    fn wholes_taken_out(&mut self, e: &Expr) -> Option<Expr> {
        let mut result: Option<Expr> = None;
        for term in e.terms() {
            let Atom::FloorDiv(x, c) = &term.atom else { continue };
            if x.terms().iter().all(|t| t.coefficient < *c) {
                continue;
            }
            let scaled = |f: fn(i64, i64) -> i64| -> Terms {
                let scaled = x.terms().iter().map(|t| (f(t.coefficient, *c), &t.atom));
                scaled
                    .filter(|(a, _)| *a != 0)
                    .map(|(coefficient, atom)| Term { coefficient, atom: atom.clone() })
                    .collect()
            };
            let y = Expr::from_sorted(0, scaled(|a, c| if a < c { 0 } else { a / c }));
            let z = Expr::from_sorted(x.constant_term(), scaled(|a, c| if a < c { a } else { a % c }));
            let after = y.checked_add(&z.checked_floor_div(*c).ok()?).ok()?;
            let before = Expr::from_atom(term.atom.clone());
            let Ok(without) = result.as_ref().unwrap_or(e).checked_add_scaled(&before, term.coefficient.checked_neg()?)
            else {
                continue;
            };
            let Ok(sum) = without.checked_add_scaled(&after, term.coefficient) else { continue };
            self.noted(floordiv::MULTIPLE, [('y', &y), ('z', &z)], [('c', *c)], &before, &after);
            result = Some(sum);
        }
        result
    }

    /// The sum with all digit ranges of `x` cut where others begin or end; nothing where none is cut, or the cuts do not divide
    /// one another.
    fn refined(&mut self, e: &Expr, x: &Expr) -> Option<Expr> {
        let mut digit_ranges: SmallVec<[DigitRange; 6]> = e
            .terms()
            .iter()
            .filter_map(|t| digit_range(t).filter(|(y, _)| *y == x))
            .map(|(_, digit_range)| digit_range)
            .collect();
        let whole = if x.constant_term() == 0 { factor_in(x, e) } else { None };
        digit_ranges.extend(whole.map(|a| DigitRange { a, low: 1, high: None }));
        if digit_ranges.len() < 2 {
            return None;
        }
        let mut cuts: SmallVec<[i64; 8]> = digit_ranges.iter().flat_map(|s| [Some(s.low), s.high]).flatten().collect();
        cuts.sort_unstable();
        cuts.dedup();
        let is_cut = |s: &DigitRange| cuts.iter().any(|cut| s.low < *cut && s.high.is_none_or(|high| *cut < high));
        if !digit_ranges.iter().any(is_cut) || cuts.windows(2).any(|pair| pair[1] % pair[0] != 0) {
            return None;
        }
        let mut rest = e.clone();
        for s in &digit_ranges {
            rest = rest.checked_add_scaled(&s.digit(x)?, s.a.checked_neg()?).ok()?;
        }
        for (i, low) in cuts.iter().enumerate() {
            let high = cuts.get(i + 1).copied();
            let covers =
                |s: &&DigitRange| s.low <= *low && s.high.is_none_or(|end| high.is_some_and(|high| high <= end));
            let mut a: i64 = 0;
            for s in digit_ranges.iter().filter(covers) {
                a = a.checked_add(s.a.checked_mul(low / s.low)?)?;
            }
            rest = rest.checked_add_scaled(&DigitRange { a, low: *low, high }.digit(x)?, a).ok()?;
        }
        if self.context.keeps_log() {
            for s in &digit_ranges {
                self.note_cuts(x, *s, &cuts);
            }
        }
        Some(rest)
    }

    /// The digit range as the sum of its parts, one step for each cut, from the top.
    fn note_cuts(&mut self, x: &Expr, whole: DigitRange, cuts: &[i64]) -> Option<()> {
        let mut left = whole;
        for cut in cuts.iter().rev().filter(|cut| whole.low < **cut && whole.high.is_none_or(|high| **cut < high)) {
            let c = cut / whole.low;
            let (above, below) = (DigitRange { low: *cut, ..left }, DigitRange { high: Some(*cut), ..left });
            let all = left.digit(x)?;
            if let Some(high) = left.high {
                let (zero, inner) = (Expr::constant(0), x.checked_floor_div(whole.low).ok()?);
                let twice = inner.checked_floor_div(c).ok()?;
                if whole.low > 1 {
                    let (letters, numbers) = ([('x', x), ('z', &zero)], [('k', whole.low), ('c', c)]);
                    self.noted(floordiv::NESTED, letters, numbers, &twice, &x.checked_floor_div(*cut).ok()?);
                }
                let before = twice.checked_modulo(high / cut).ok()?.checked_mul(c).ok()?;
                let after = all.checked_sub(&below.digit(x)?).ok()?;
                self.noted(
                    DIFFERENCE_OF_MODS,
                    [('x', &inner), ('z', &zero)],
                    [('k', c), ('c', high / cut)],
                    &before,
                    &after,
                );
            } else {
                let both = below.digit(x)?.checked_add_scaled(&above.digit(x)?, c).ok()?;
                self.noted(JOIN_ADJACENT_DIGITS, [('x', x)], [('k', whole.low), ('c', c)], &both, &all);
            }
            left = below;
        }
        Some(())
    }

    /// Records an instance of the law with these letters.
    pub(super) fn noted<const N: usize, const M: usize>(
        &mut self,
        law: &'static Law,
        letters: [(char, &Expr); N],
        numbers: [(char, i64); M],
        before: &Expr,
        after: &Expr,
    ) {
        self.context.forget();
        for (letter, meaning) in letters {
            self.context.bind(letter, meaning);
        }
        for (letter, value) in numbers {
            self.context.number(letter, value);
        }
        self.context.record(law, before, after);
    }
}

impl DigitRange {
    /// The digits of `x` in the digit_range.
    pub(super) fn digit(&self, x: &Expr) -> Option<Expr> {
        let above = x.checked_floor_div(self.low).ok()?;
        match self.high {
            Some(high) => above.checked_modulo(high / self.low).ok(),
            None => Some(above),
        }
    }
}

/// The number that a term takes digits of, and which.
pub(super) fn digit_range(term: &Term) -> Option<(&Expr, DigitRange)> {
    let a = term.coefficient;
    match &term.atom {
        Atom::Var(_) => None,
        Atom::FloorDiv(x, low) => Some((x, DigitRange { a, low: *low, high: None })),
        Atom::Mod(x, c) => match x.as_atom() {
            Some(Atom::FloorDiv(y, low)) => Some((y, DigitRange { a, low: *low, high: Some(low.checked_mul(*c)?) })),
            _ => Some((x, DigitRange { a, low: 1, high: Some(*c) })),
        },
    }
}

pub(super) type DigitRanges = SmallVec<[DigitRange; 8]>;
pub(super) type WeightedFloors = SmallVec<[WeightedFloor; 8]>;

/// `w·(x // k)`.
#[derive(Copy, Clone)]
pub(super) struct WeightedFloor {
    pub(super) divisor: i64,
    pub(super) weight: i64,
}

impl WeightedFloor {
    /// True for the floors of one digit: opposite weights, counted in units of the floor.
    fn is_closed_by(self, other: WeightedFloor) -> bool {
        i128::from(self.weight) * i128::from(other.divisor) == -i128::from(other.weight) * i128::from(self.divisor)
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
        old: &DigitRanges,
    ) -> Option<(Expr, DigitRanges)> {
        let (digits, singles) = paired(&weighted_floors(old)?)?;
        let mut best: Option<(Expr, DigitRanges)> = None;
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

    /// `rest` and these digit ranges of `x`, in normal form.
    pub(super) fn with_digits(&mut self, rest: &Expr, x: &Expr, new: &[DigitRange]) -> Option<Expr> {
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

    /// Records that the digit ranges have the same floors.
    pub(super) fn note_digit_ranges(&mut self, x: &Expr, old: &[DigitRange], new: &[DigitRange]) {
        for s in old.iter().filter(|s| !new.contains(s)).chain(new.iter().filter(|s| !old.contains(s))) {
            self.note_floors(x, *s);
        }
    }

    /// The digit as a difference of floors.
    fn note_floors(&mut self, x: &Expr, s: DigitRange) -> Option<()> {
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

/// The digit ranges as one sum of floors, the divisors growing and each dividing the next; nothing where they do not.
pub(super) fn weighted_floors(digit_ranges: &[DigitRange]) -> Option<WeightedFloors> {
    let mut floors = WeightedFloors::new();
    for s in digit_ranges {
        floors.push(WeightedFloor { divisor: s.low, weight: s.a });
        if let Some(high) = s.high {
            floors.push(WeightedFloor { divisor: high, weight: s.a.checked_mul(high / s.low)?.checked_neg()? });
        }
    }
    floors.sort_unstable_by_key(|floor| floor.divisor);
    let mut merged = WeightedFloors::new();
    for floor in floors {
        match merged.last_mut() {
            Some(last) if last.divisor == floor.divisor => last.weight = last.weight.checked_add(floor.weight)?,
            Some(last) if floor.divisor % last.divisor != 0 => return None,
            _ => merged.push(floor),
        }
    }
    merged.retain(|floor| floor.weight != 0);
    Some(merged)
}

/// The digits that pairs of floors make, from the lowest, and the floors left over.
fn paired(floors: &[WeightedFloor]) -> Option<(DigitRanges, WeightedFloors)> {
    let mut digits = DigitRanges::new();
    let mut left = WeightedFloors::from(floors);
    let mut i = 0;
    while let Some(low) = left.get(i).copied() {
        i += 1;
        let Some(j) = left.iter().skip(i).position(|floor| low.is_closed_by(*floor)) else { continue };
        digits.push(DigitRange { a: low.weight, low: low.divisor, high: Some(left.get(i + j)?.divisor) });
        left.remove(i + j);
        i -= 1;
        left.remove(i);
    }
    Some((digits, left))
}

/// Which of the single floors to write as remainders: none, all, one, or all but one.
fn choices(singles: &[WeightedFloor]) -> impl Iterator<Item = impl Fn(usize) -> bool> {
    let one = (0..singles.len()).flat_map(|one| [(Some(one), false), (Some(one), true)]);
    [(None, false), (None, true)].into_iter().chain(one).map(|(one, others)| move |i| (one == Some(i)) != others)
}

/// The digits, and the single floors as quotients or, where that leaves whole factors, as remainders.
fn written(
    digits: &[DigitRange],
    singles: &[WeightedFloor],
    is_remainder: impl Fn(usize) -> bool,
) -> Option<DigitRanges> {
    let mut all = DigitRanges::from(digits);
    let mut whole: i64 = 0;
    for (i, floor) in singles.iter().enumerate() {
        if floor.divisor == 1 {
            whole = whole.checked_add(floor.weight)?;
        } else if is_remainder(i) && floor.weight % floor.divisor == 0 {
            let u = floor.weight / floor.divisor;
            all.push(DigitRange { a: u.checked_neg()?, low: 1, high: Some(floor.divisor) });
            whole = whole.checked_add(u)?;
        } else {
            all.push(DigitRange { a: floor.weight, low: floor.divisor, high: None });
        }
    }
    if whole != 0 {
        all.push(DigitRange { a: whole, low: 1, high: None });
    }
    Some(all)
}

/// What the digit ranges of `x` cost, as [`Expr::cost`] has it.
fn expense(x: &Expr, digit_ranges: &[DigitRange]) -> u64 {
    let factor = |a: i64| u64::from(a != 1);
    let cost = |s: &DigitRange| match (s.low, s.high) {
        (1, None) => {
            let terms = x.terms().iter().map(|t| 1 + factor(t.coefficient.saturating_mul(s.a)));
            terms.sum::<u64>() + u64::from(x.constant_term() != 0)
        }
        (1, _) | (_, None) => x.cost().saturating_add(OPERATION_COST + factor(s.a)),
        _ => x.cost().saturating_add(2 * OPERATION_COST + factor(s.a)),
    };
    digit_ranges.iter().fold(0, |sum, s| sum.saturating_add(cost(s)))
}

/// True where the sum knows the variable only in digits that [`Normalizer::placed`] wrote the cheapest way.
pub(super) fn are_cheapest_digits(e: &Expr, v: Var) -> bool {
    let mut all = DigitRanges::new();
    for term in e.terms() {
        match &term.atom {
            Atom::Var(w) if *w == v => all.push(DigitRange { a: term.coefficient, low: 1, high: None }),
            _ => all.extend(digit_range(term).filter(|(x, _)| x.as_var() == Some(v)).map(|(_, s)| s)),
        }
    }
    all.len() < 2 || weighted_floors(&all).is_some()
}
