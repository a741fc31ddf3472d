//! Grouping of the terms of a sum that are digits of one number.
//!
//! `(x // k) mod c` is the same for all `x` that agree modulo `k·c`, and `(x // k + z) mod c` is that of `x + k·z`. So digits may
//! belong to one number that look as if they did not: after a reshape, `(d0·2 + d1·9 + d2) mod 10` and `(d0·252 + d1·9 + d2) // 10`.
//! The one with the highest digits, or with all of them from some place on, stands for all that agree with it. As a sum of floors
//! ([`super::digits`]) its digits have one form, whatever the sum was composed from, and no search for pairs is needed.

use smallvec::SmallVec;

use super::digits::{DigitRange, DigitRanges, WeightedFloors, weighted_floors};
use super::normal::Normalizer;
use super::recombine::factor_in;
use super::rules::floordiv::MULTIPLE;
use super::rules::sum::{DIFFERENCE_OF_MODS, FLOORDIV_TIMES_DIVISOR, MOD_OF_CONGRUENT};
use crate::{Atom, Expr, Term, Var};

/// Sums with more terms than this are left alone: each term is compared with each.
const MAX_TERMS: usize = 32;
/// Arguments up to this size, as trees, are looked into for variables.
const MAX_SEARCHED_TREE: u64 = 64;

/// A summand that is `a` times some digits of a number, by its position in the sum.
struct Member {
    position: usize,
    /// A number that has these digits.
    number: Expr,
    digit_range: DigitRange,
}

/// The summands that have digits of one number.
struct Family {
    number: Expr,
    members: SmallVec<[Member; 8]>,
}

impl Family {
    /// The digits that the sum takes of the number, its multiples included.
    fn digit_ranges(&self, e: &Expr) -> DigitRanges {
        let mut all: DigitRanges = self.members.iter().map(|member| member.digit_range).collect();
        if self.number.constant_term() == 0
            && let Some(a) = factor_in(&self.number, e)
        {
            all.push(DigitRange { a, low: 1, high: None });
        }
        all
    }

    /// True where a half of the number may become the other half, `x - x // 2 = (x + 1) // 2`, to take up a summand or a constant.
    fn may_be_halved(&self, e: &Expr, has_whole: bool) -> bool {
        let has_constants =
            self.number.as_var().is_none() && (e.constant_term() != 0 || self.number.constant_term() != 0);
        let is_half = |s: DigitRange| (s.low, s.high) == (2, None) || (s.low, s.high) == (1, Some(2));
        (has_whole || has_constants) && self.members.iter().any(|member| is_half(member.digit_range))
    }

    /// The sum without any of these digits.
    fn taken_from(&self, e: &Expr, old: &[DigitRange]) -> Option<Expr> {
        let is_member = |position: usize| self.members.iter().any(|member| member.position == position);
        let left =
            e.terms().iter().enumerate().filter(|(position, _)| !is_member(*position)).map(|(_, term)| term.clone());
        let rest = Expr::from_sorted(e.constant_term(), left.collect());
        match old.get(self.members.len()) {
            Some(whole) => rest.checked_add_scaled(&self.number, whole.a.checked_neg()?).ok(),
            None => Some(rest),
        }
    }
}

/// The numbers of which a sum has digits, those with the highest digits first.
pub(super) struct Numbers(SmallVec<[Family; 4]>);

impl Numbers {
    pub(super) fn of(e: &Expr) -> Numbers {
        let mut families: SmallVec<[Family; 4]> = SmallVec::new();
        if e.is_linear() || e.terms().len() > MAX_TERMS {
            return Numbers(families);
        }
        let mut members: SmallVec<[Member; 16]> =
            e.terms().iter().enumerate().filter_map(|(position, term)| member(position, term)).collect();
        // No end is above every end.
        members.sort_by_key(|member| std::cmp::Reverse(member.digit_range.high.unwrap_or(i64::MAX)));
        for member in members {
            let is_of = |family: &&mut Family| match member.digit_range.high {
                None => family.number == member.number,
                Some(high) => are_congruent(&family.number, &member.number, high),
            };
            match families.iter_mut().find(is_of) {
                Some(family) => family.members.push(member),
                None => families.push(Family { number: member.number.clone(), members: SmallVec::from_iter([member]) }),
            }
        }
        Numbers(families)
    }

    /// The positions of summands that no law can join with another: digits of a number in their one form, of whose variables no
    /// other summand knows.
    pub(super) fn settled_positions(&self, e: &Expr) -> SmallVec<[usize; 32]> {
        let mut settled = SmallVec::new();
        if self.0.is_empty() {
            return settled;
        }
        let mut names: SmallVec<[Var; 8]> = SmallVec::new();
        let masks: SmallVec<[u64; 32]> = e.terms().iter().map(|term| mask(&term.atom, &mut names)).collect();
        for family in &self.0 {
            let old = family.digit_ranges(e);
            if old.len() > 1 && weighted_floors(&old).is_none() {
                continue;
            }
            let own = family.members.iter().fold(0, |own, member| own | masks[member.position]);
            let has_whole = old.len() > family.members.len();
            let is_apart = e.terms().iter().zip(&masks).enumerate().all(|(position, (term, mask))| {
                let is_own = family.members.iter().any(|member| member.position == position)
                    || (has_whole && matches!(term.atom, Atom::Var(_)));
                own & mask == 0 || is_own
            });
            if is_apart && !family.may_be_halved(e, has_whole) {
                settled.extend(family.members.iter().map(|member| member.position));
            }
        }
        settled
    }
}

fn member(position: usize, term: &Term) -> Option<Member> {
    let a = term.coefficient;
    let (number, low, high) = match &term.atom {
        Atom::Var(_) => return None,
        Atom::FloorDiv(x, low) => (x.clone(), *low, None),
        Atom::Mod(y, c) => match unnested(y) {
            Some((number, low)) => (number, low, Some(low.checked_mul(*c)?)),
            None => (y.clone(), 1, Some(*c)),
        },
    };
    number.is_linear().then_some(Member { position, number, digit_range: DigitRange { a, low, high } })
}

/// `x + k·z` and `k`, for `x // k + z`.
fn unnested(y: &Expr) -> Option<(Expr, i64)> {
    if let Some(Atom::FloorDiv(x, k)) = y.as_atom() {
        return Some((x.clone(), *k));
    }
    let (x, k) = y.terms().iter().find_map(|t| match &t.atom {
        Atom::FloorDiv(x, k) if t.coefficient == 1 => Some((x, *k)),
        _ => None,
    })?;
    Some((x.checked_add_scaled(&above(y, x, k)?, k).ok()?, k))
}

/// `z`, for `y = x // k + z`.
fn above(y: &Expr, x: &Expr, k: i64) -> Option<Expr> {
    y.checked_sub(&x.checked_floor_div(k).ok()?).ok()
}

/// True where the difference of two linear sums is a multiple of `m`, because each of its coefficients is.
fn are_congruent(a: &Expr, b: &Expr, m: i64) -> bool {
    let agree = |a: i64, b: i64| (i128::from(a) - i128::from(b)) % i128::from(m) == 0;
    if !agree(a.constant_term(), b.constant_term()) {
        return false;
    }
    let (mut a, mut b) = (a.terms(), b.terms());
    loop {
        let (first, second) = match (a, b) {
            ([], []) => return true,
            ([s, rest @ ..], [t, others @ ..]) if s.atom == t.atom => {
                (a, b) = (rest, others);
                (s.coefficient, t.coefficient)
            }
            ([s, rest @ ..], [t, ..]) if s.atom < t.atom => {
                a = rest;
                (s.coefficient, 0)
            }
            ([s, rest @ ..], []) => {
                a = rest;
                (s.coefficient, 0)
            }
            (_, [t, others @ ..]) => {
                b = others;
                (0, t.coefficient)
            }
        };
        if !agree(first, second) {
            return false;
        }
    }
}

/// The digits of a number of which no two overlap, from the sum of floors that they make.
fn disjoint(floors: &WeightedFloors) -> Option<DigitRanges> {
    let mut digits = DigitRanges::new();
    for floor in floors {
        let below = match digits.last_mut() {
            Some(last) if last.high.is_none() => {
                last.high = Some(floor.divisor);
                last.a.checked_mul(floor.divisor / last.low)?
            }
            _ => 0,
        };
        let a = below.checked_add(floor.weight)?;
        if a != 0 {
            digits.push(DigitRange { a, low: floor.divisor, high: None });
        }
    }
    Some(digits)
}

/// What the digits of one number look like in an argument: none overlap, so that what a division or remainder keeps of them
/// shows. What has no end stays as it is where one such summand for all would have a larger factor.
fn separated(old: &DigitRanges) -> Option<DigitRanges> {
    let new = disjoint(&weighted_floors(old)?)?;
    let factor = |s: &DigitRange| if s.high.is_none() { s.a.unsigned_abs() } else { 0 };
    let most = |all: &[DigitRange]| all.iter().map(factor).max().unwrap_or(0);
    if most(&new) <= most(old) {
        return Some(new);
    }
    let (open, closed): (DigitRanges, DigitRanges) = old.iter().copied().partition(|s| s.high.is_none());
    let mut new = disjoint(&weighted_floors(&closed)?)?;
    new.extend(open);
    Some(new)
}

impl Normalizer {
    /// The sum with the digits of each number in their one form, where that is another: in an argument none overlap, in a whole
    /// sum they are written the cheapest way. Only of numbers whose summands are all meant, by their positions.
    pub(super) fn brought_together(
        &mut self,
        e: &Expr,
        numbers: &Numbers,
        is_meant: impl Fn(usize) -> bool,
    ) -> Option<Expr> {
        numbers.0.iter().filter(|family| family.members.iter().all(|member| is_meant(member.position))).find_map(
            |family| {
                let old = family.digit_ranges(e);
                if old.len() < 2 { None } else { self.together(e, family, &old) }
            },
        )
    }

    fn together(&mut self, e: &Expr, family: &Family, old: &DigitRanges) -> Option<Expr> {
        let x = &family.number;
        let rest = family.taken_from(e, old)?;
        let (sum, new) = if self.inside {
            let new = separated(old)?;
            if new.len() == old.len() && new.iter().all(|s| old.contains(s)) {
                return None;
            }
            let sum = self.with_digits(&rest, x, &new)?;
            (sum.is_linear() || self.does_not_widen(e, &sum)).then_some((sum, new))?
        } else {
            self.cheapest_digits(e, &rest, x, old)?
        };
        if sum == *e {
            return None;
        }
        if self.context.keeps_log() {
            self.note_together(e, family, old, &new);
        }
        Some(sum)
    }

    /// Records that the digit ranges make the same sum: of remainders where the factor of each is a multiple of its place, else of
    /// floors.
    fn note_together(&mut self, e: &Expr, family: &Family, old: &DigitRanges, new: &DigitRanges) {
        let x = &family.number;
        let in_remainders = old.iter().chain(new).all(|s| s.a % s.low == 0);
        for member in &family.members {
            if new.contains(&member.digit_range) && member.number == *x {
                continue;
            }
            if let Some(Term { atom: Atom::Mod(y, c), .. }) = e.terms().get(member.position) {
                self.note_member(x, member, y, *c, in_remainders);
            }
        }
        if in_remainders {
            let changed = old.iter().filter(|s| s.high.is_none() && !new.contains(s));
            for s in changed.chain(new.iter().filter(|s| !old.contains(s))) {
                self.note_remainders(x, *s);
            }
        } else {
            self.note_digit_ranges(x, old, new);
        }
    }

    /// The digit range as a difference of remainders, or of the number and a remainder.
    fn note_remainders(&mut self, x: &Expr, s: DigitRange) -> Option<()> {
        if s.low == 1 {
            return None;
        }
        let before = s.digit(x)?.checked_mul(s.low).ok()?;
        let below = x.checked_modulo(s.low).ok()?;
        match s.high {
            Some(high) => {
                let (zero, after) = (Expr::constant(0), x.checked_modulo(high).ok()?.checked_sub(&below).ok()?);
                self.noted(
                    DIFFERENCE_OF_MODS,
                    [('x', x), ('z', &zero)],
                    [('k', s.low), ('c', high / s.low)],
                    &before,
                    &after,
                );
            }
            None => {
                self.noted(FLOORDIV_TIMES_DIVISOR, [('x', x)], [('c', s.low)], &before, &x.checked_sub(&below).ok()?)
            }
        }
        Some(())
    }

    /// The member `y mod c` in terms of the number `x` that stands for all.
    fn note_member(&mut self, x: &Expr, member: &Member, y: &Expr, c: i64, in_remainders: bool) -> Option<()> {
        let (own, low) = (&member.number, member.digit_range.low);
        let before = y.checked_modulo(c).ok()?;
        if low == 1 {
            return self.note_congruent(own, x, c);
        }
        let inner = y.terms().iter().find_map(|t| match &t.atom {
            Atom::FloorDiv(inner, k) if t.coefficient == 1 && *k == low => Some(inner),
            _ => None,
        })?;
        let z = above(y, inner, low)?;
        if in_remainders {
            let high = member.digit_range.high?;
            let after = own.checked_modulo(high).ok()?.checked_sub(&own.checked_modulo(low).ok()?).ok()?;
            let before = before.checked_mul(low).ok()?;
            self.noted(DIFFERENCE_OF_MODS, [('x', inner), ('z', &z)], [('k', low), ('c', c)], &before, &after);
            self.note_congruent(own, x, low);
            return self.note_congruent(own, x, high);
        }
        let quotient = own.checked_floor_div(low).ok()?;
        self.noted(MULTIPLE, [('y', &z), ('z', inner)], [('c', low)], &quotient, y);
        // x = own + low·c·m.
        let difference = x.checked_sub(own).ok()?;
        let terms = difference.terms().iter().map(|t| Term { coefficient: t.coefficient / low, atom: t.atom.clone() });
        let shift = Expr::from_sorted(difference.constant_term() / low, terms.collect());
        let shifted = y.checked_add(&shift).ok()?;
        let (whole, after) = (x.checked_floor_div(low).ok()?, shift.checked_add(&quotient).ok()?);
        self.noted(MULTIPLE, [('y', &shift), ('z', own)], [('c', low)], &whole, &after);
        self.noted(
            MOD_OF_CONGRUENT,
            [('x', y), ('y', &shifted)],
            [('c', c)],
            &before,
            &shifted.checked_modulo(c).ok()?,
        );
        Some(())
    }

    fn note_congruent(&mut self, x: &Expr, y: &Expr, c: i64) -> Option<()> {
        if x != y {
            let (before, after) = (x.checked_modulo(c).ok()?, y.checked_modulo(c).ok()?);
            self.noted(MOD_OF_CONGRUENT, [('x', x), ('y', y)], [('c', c)], &before, &after);
        }
        Some(())
    }
}

/// The variables of the atom, as bits by their positions among the names; all bits where it is too large to be looked into.
fn mask(atom: &Atom, names: &mut SmallVec<[Var; 8]>) -> u64 {
    let mut bits = 0;
    let mut add = |v: Var| {
        let position = names.iter().position(|known| *known == v).unwrap_or_else(|| {
            names.push(v);
            names.len() - 1
        });
        bits |= 1u64.checked_shl(position as u32).unwrap_or(u64::MAX);
        false
    };
    match atom {
        Atom::Var(v) => {
            add(*v);
        }
        Atom::FloorDiv(x, _) | Atom::Mod(x, _) if x.tree_size() <= MAX_SEARCHED_TREE => {
            x.find_variable(&mut add);
        }
        _ => return u64::MAX,
    }
    bits
}
