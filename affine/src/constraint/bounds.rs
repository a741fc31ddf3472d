//! Bounds taken through what stands around an expression: K1 to K4.

use super::Constraint;
use crate::expr::Terms;
use crate::range::{ceil_div, exact_interval, primitive_sum, solve_exactly};
use crate::{Atom, Expr, Interval, Simplifier, Term};

/// K1: `l <= a*x <= h <=> ceildiv(l, a) <= x <= h floordiv a`, and the reverse for negative `a`. `x` is a sum whose
/// coefficients have no common divisor and whose first coefficient is positive. Gives `a` too.
pub(super) fn without_factor(constraint: &Constraint) -> Option<(Constraint, i64)> {
    let (x, a) = primitive_sum(&constraint.expr)?;
    if a == 1 || constraint.expr.constant_term() != 0 {
        return None;
    }
    Some((Constraint::new(x, solve_exactly(constraint.bounds, a, 0)?), a))
}

/// K2: `l <= x floordiv c <= h <=> c*l <= x <= c*h + c - 1`.
pub(super) fn without_division(constraint: &Constraint) -> Option<Constraint> {
    let Some(Atom::FloorDiv(x, c)) = constraint.expr.as_atom() else { return None };
    let c = i128::from(*c);
    let lo = constraint.bounds.bound_below().map(|l| c * l);
    let hi = constraint.bounds.bound_above().map(|h| c * h + c - 1);
    Some(Constraint::new(x.clone(), exact_interval(lo, hi)?))
}

/// K3: `l <= x + k <= h <=> l - k <= x <= h - k`.
pub(super) fn without_constant(constraint: &Constraint) -> Option<Constraint> {
    let k = constraint.expr.constant_term();
    if k == 0 || constraint.expr.as_constant().is_some() {
        return None;
    }
    Some(Constraint::new(constraint.expr.without_constant(), solve_exactly(constraint.bounds, 1, k)?))
}

/// K4: `l <= g*y + b <= h <=> p <= y <= q`, where `ceildiv(l - b, g) = p` and `(h - b) floordiv g = q` for every value of
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
    factors.sort_unstable_by(|a, b| b.cmp(a));
    let divisor = |a: i64, b: i64| i64::try_from(num_integer::gcd(a.unsigned_abs(), b.unsigned_abs())).unwrap_or(1);
    let mut running = 0;
    for i in 0..factors.len() {
        running = divisor(running, factors[i]);
        factors.push(running);
    }
    factors.sort_unstable_by(|a, b| b.cmp(a));
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
