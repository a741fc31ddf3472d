//! Lattice points of a rectangle between two parallel lines: `l <= a*x + b*y <= h`.
//!
//! The count under a line is a sum of floors, `sum of (a*i + b) floordiv m for 0 <= i < n`, which follows Euclid's algorithm
//! on `a` and `m` (Graham, Knuth, Patashnik, *Concrete Mathematics*, section 3.5).

use weft_affine::{Atom, Constraint, Interval, Term, Var};

use crate::IndexingMap;

/// The number of points of a domain of two variables whose one constraint bounds a sum of both; nothing for other domains,
/// and where a number on the way does not fit.
pub(super) fn points_between_lines(domain: &IndexingMap, variables: &[(Var, Interval)]) -> Option<u128> {
    let ([Constraint { expr, bounds }], [_, _]) = (&domain.constraints[..], variables) else { return None };
    let [Term { coefficient: a, atom: Atom::Var(v) }, Term { coefficient: b, atom: Atom::Var(w) }] = expr.terms()
    else {
        return None;
    };
    let of = |v: &Var| variables.iter().find(|(known, _)| known == v).map(|(_, b)| *b);
    let (x, y) = (of(v)?, of(w)?);
    // With x and y counted from the end where their terms are least, both factors are positive.
    let (a, b) = (i128::from(*a), i128::from(*b));
    let least = |factor: i128, bounds: Interval| factor * i128::from(if factor > 0 { bounds.lo } else { bounds.hi });
    let base = least(a, x).checked_add(least(b, y))?.checked_add(i128::from(expr.constant_term()))?;
    let sizes = (i128::try_from(x.size()).ok()?, i128::try_from(y.size()).ok()?);
    let below = |bound: i128| points_under_line(a.abs(), b.abs(), bound.checked_sub(base)?, sizes);
    let count = below(i128::from(bounds.hi))? - below(i128::from(bounds.lo) - 1)?;
    u128::try_from(count).ok()
}

/// The number of `0 <= x < n`, `0 <= y < m` with `a*x + b*y <= t`, for positive `a` and `b`.
fn points_under_line(a: i128, b: i128, t: i128, (n, m): (i128, i128)) -> Option<i128> {
    if t < 0 {
        return Some(0);
    }
    // Up to here every y is under the line, and up to there some.
    let all = t.checked_sub(b.checked_mul(m - 1)?)?;
    let full = if all < 0 { 0 } else { (all / a + 1).min(n) };
    let some = (t / a + 1).min(n);
    let whole = full.checked_mul(m)?;
    // sum of (t - a*x) floordiv b + 1 for full <= x < some, counted from the last x, where the height is least.
    let count = some - full;
    let last = t - a.checked_mul(some - 1)?;
    whole.checked_add(floor_sum(count, b, a, last)?)?.checked_add(count)
}

/// `sum of (a*i + b) floordiv m for 0 <= i < n`, for non-negative numbers and positive `m`.
fn floor_sum(n: i128, m: i128, a: i128, b: i128) -> Option<i128> {
    if n <= 0 {
        return Some(0);
    }
    let pairs = if n % 2 == 0 { (n / 2).checked_mul(n - 1)? } else { n.checked_mul((n - 1) / 2)? };
    let whole = pairs.checked_mul(a / m)?.checked_add(n.checked_mul(b / m)?)?;
    let (a, b) = (a % m, b % m);
    let top = a.checked_mul(n)?.checked_add(b)?;
    if top < m {
        return Some(whole);
    }
    whole.checked_add(floor_sum(top / m, a, m, top % m)?)
}
