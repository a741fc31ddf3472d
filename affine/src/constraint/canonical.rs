//! Canonicalization of one constraint.

use super::laws::{
    LARGE_PART, MULTIPLE, NEGATIVE, QUOTIENT, RANGE_ABOVE, RANGE_ALWAYS, RANGE_BELOW, REMAINDER_ALWAYS,
    REMAINDER_CLIPPED, REMAINDER_NEGATIVE, REMAINDER_TOO_LARGE, SHIFTED, SIMPLIFIED,
};
use super::residues::residue_of_multiple;
use super::{Constraint, ConstraintStep};
use crate::expr::Terms;
use crate::range::{ceil_div, exact_interval, primitive_sum, solve_exactly};
use crate::{Atom, Expr, Interval, Law, Simplifier, Term};

/// The canonical form of a constraint, or that it holds always or never.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Canonical {
    /// It holds everywhere in the rest of the domain.
    Always,
    /// It holds nowhere in the rest of the domain.
    Never,
    /// A constraint that holds exactly where the original does.
    Open(Constraint),
}

impl Constraint {
    /// The constraint taken apart as far as what it says can be said of less: its expression simplified, then without
    /// constant, factor, floor division and summands that decide nothing, bounds of remainders clipped.
    ///
    /// `simplifier` knows the rest of the domain, without this constraint. Each law applied is added to `steps`.
    pub fn canonicalize(&self, simplifier: &mut Simplifier, steps: &mut Vec<ConstraintStep>) -> Canonical {
        let mut current = self.clone();
        let mut step = |current: &mut Constraint, law: &'static Law, after: Constraint| {
            steps.push(ConstraintStep::new(law, &[current], &[&after]));
            *current = after;
        };
        loop {
            let simple = simplifier.simplify(&current.expr);
            if simple != current.expr {
                let after = Constraint::new(simple, current.bounds);
                step(&mut current, SIMPLIFIED, after);
            }
            if let Some(after) = without_constant(&current) {
                step(&mut current, SHIFTED, after);
            }
            if let Some((after, a)) = without_factor(&current) {
                step(&mut current, if a < 0 { NEGATIVE } else { MULTIPLE }, after);
            }
            if let Some((law, after)) = residue_of_multiple(&current) {
                step(&mut current, law, after);
            }
            if let Some((law, verdict)) = current.verdict(simplifier) {
                let never = Constraint::new(current.expr.clone(), Interval::EMPTY);
                if let Some(law) = law {
                    let after: &[&Constraint] = if verdict == Canonical::Always { &[] } else { &[&never] };
                    steps.push(ConstraintStep::new(law, &[&current], after));
                }
                return verdict;
            }
            if let Some(after) = clipped(&current) {
                step(&mut current, REMAINDER_CLIPPED, after);
            }
            // Each of these leaves fewer divisions or fewer terms, so the loop ends.
            if let Some(after) = without_division(&current) {
                step(&mut current, QUOTIENT, after);
            } else if let Some(after) = without_small_part(&current, simplifier) {
                step(&mut current, LARGE_PART, after);
            } else if simplifier.proves(&current) {
                steps.push(ConstraintStep::new(RANGE_ALWAYS, &[&current], &[]));
                return Canonical::Always;
            } else {
                return Canonical::Open(current);
            }
        }
    }

    /// Whether the range of the expression decides the constraint, and the law that says so unless its bounds are empty.
    fn verdict(&self, simplifier: &mut Simplifier) -> Option<(Option<&'static Law>, Canonical)> {
        let bounds = self.bounds;
        if bounds.is_empty() {
            return Some((None, Canonical::Never));
        }
        if let Some(Atom::Mod(_, c)) = self.expr.as_atom() {
            let decided = if bounds.lo >= *c {
                Some((REMAINDER_TOO_LARGE, Canonical::Never))
            } else if bounds.hi < 0 {
                Some((REMAINDER_NEGATIVE, Canonical::Never))
            } else if bounds.contains_interval(Interval::new(0, c - 1)) {
                Some((REMAINDER_ALWAYS, Canonical::Always))
            } else {
                None
            };
            if let Some((law, verdict)) = decided {
                return Some((Some(law), verdict));
            }
        }
        let range = simplifier.range_of(&self.expr);
        if bounds.contains_interval(range) {
            Some((Some(RANGE_ALWAYS), Canonical::Always))
        } else if bounds.intersect(range).is_empty() {
            Some((Some(if range.hi < bounds.lo { RANGE_BELOW } else { RANGE_ABOVE }), Canonical::Never))
        } else {
            None
        }
    }
}

/// The bounds of a remainder within `[0, c - 1]`.
fn clipped(constraint: &Constraint) -> Option<Constraint> {
    let Some(Atom::Mod(_, c)) = constraint.expr.as_atom() else { return None };
    let bounds = constraint.bounds.intersect(Interval::new(0, c - 1));
    (bounds != constraint.bounds).then(|| Constraint::new(constraint.expr.clone(), bounds))
}

/// `l <= a*x <= h <=> ceildiv(l, a) <= x <= h floordiv a`, and the reverse for negative `a`. `x` is a sum whose
/// coefficients have no common divisor and whose first coefficient is positive. Gives `a` too.
pub(super) fn without_factor(constraint: &Constraint) -> Option<(Constraint, i64)> {
    let (x, a) = primitive_sum(&constraint.expr)?;
    if a == 1 || constraint.expr.constant_term() != 0 {
        return None;
    }
    Some((Constraint::new(x, solve_exactly(constraint.bounds, a, 0)?), a))
}

/// `l <= x floordiv c <= h <=> c*l <= x <= c*h + c - 1`.
pub(super) fn without_division(constraint: &Constraint) -> Option<Constraint> {
    let Some(Atom::FloorDiv(x, c)) = constraint.expr.as_atom() else { return None };
    let c = i128::from(*c);
    let lo = constraint.bounds.bound_below().map(|l| c * l);
    let hi = constraint.bounds.bound_above().map(|h| c * h + c - 1);
    Some(Constraint::new(x.clone(), exact_interval(lo, hi)?))
}

/// `l <= x + k <= h <=> l - k <= x <= h - k`.
pub(super) fn without_constant(constraint: &Constraint) -> Option<Constraint> {
    let k = constraint.expr.constant_term();
    if k == 0 || constraint.expr.as_constant().is_some() {
        return None;
    }
    Some(Constraint::new(constraint.expr.without_constant(), solve_exactly(constraint.bounds, 1, k)?))
}

/// `l <= g*y + b <= h <=> p <= y <= q`, where `ceildiv(l - b, g) = p` and `(h - b) floordiv g = q` for every value of
/// `b`. The largest such `g` is taken.
pub(super) fn without_small_part(constraint: &Constraint, simplifier: &mut Simplifier) -> Option<Constraint> {
    let e = &constraint.expr;
    if e.terms().len() < 2 {
        return None;
    }
    for g in common_factors(e) {
        let (multiples, rest): (Terms, Terms) = e.terms().iter().cloned().partition(|t| t.coefficient % g == 0);
        if rest.is_empty() {
            continue;
        }
        let b = simplifier.range_of(&Expr::from_sorted(e.constant_term(), rest));
        let Some(bounds) = bounds_of_large_part(constraint.bounds, g, b) else { continue };
        let divided = |t: Term| Term { coefficient: t.coefficient / g, atom: t.atom };
        let y = Expr::from_sorted(0, multiples.into_iter().map(divided).collect());
        return Some(Constraint::new(y, bounds));
    }
    None
}

/// The numbers greater than one that divide some coefficient and as many of the greater ones as they can, largest first.
fn common_factors(e: &Expr) -> Vec<i64> {
    let mut factors: Vec<i64> = e.terms().iter().filter_map(|t| t.coefficient.checked_abs()).collect();
    factors.sort_unstable();
    factors.reverse();
    let divisor = |a: i64, b: i64| i64::try_from(num_integer::gcd(a.unsigned_abs(), b.unsigned_abs())).unwrap_or(1);
    let mut running = 0;
    for i in 0..factors.len() {
        running = divisor(running, factors[i]);
        factors.push(running);
    }
    factors.sort_unstable();
    factors.reverse();
    factors.dedup();
    factors.retain(|g| *g > 1);
    factors
}

/// The `y` with `g*y + b` in `bounds`, where they are the same for every `b` of its range.
fn bounds_of_large_part(bounds: Interval, g: i64, b: Interval) -> Option<Interval> {
    let (b_lo, b_hi, g) = (b.bound_below()?, b.bound_above()?, i128::from(g));
    let constant = |at_lo: i128, at_hi: i128| (at_lo == at_hi).then_some(at_lo);
    let lo = match bounds.bound_below() {
        Some(l) => Some(constant(ceil_div(l - b_lo, g), ceil_div(l - b_hi, g))?),
        None => None,
    };
    let hi = match bounds.bound_above() {
        Some(h) => Some(constant((h - b_lo).div_euclid(g), (h - b_hi).div_euclid(g))?),
        None => None,
    };
    if b_lo > b_hi { None } else { exact_interval(lo, hi) }
}
