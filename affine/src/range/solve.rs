//! Bounds of the terms of a sum, from bounds of the sum.

use num_integer::gcd;

use crate::expr::Terms;
use crate::{Expr, Interval, Term};

/// The hash of the sum without constant, divided by the greatest common divisor of its coefficients and by the sign of
/// the first, and that factor.
pub(crate) fn primitive(e: &Expr) -> Option<(u128, i64)> {
    let factor = common_factor(e)?;
    let is_primitive = factor == 1 && e.constant_term() == 0;
    Some((if is_primitive { e.structural_hash() } else { e.hash_of_divided(factor)? }, factor))
}

/// The greatest common divisor of the coefficients, with the sign of the first. Nothing for a constant.
fn common_factor(e: &Expr) -> Option<i64> {
    let first = e.terms().first()?;
    let divisor = e.terms().iter().fold(0, |g, t| gcd(g, t.coefficient.unsigned_abs()));
    let magnitude = i64::try_from(divisor).ok()?;
    Some(if first.coefficient < 0 { -magnitude } else { magnitude })
}

/// The sum that [`primitive`] hashes, and the factor: `e = factor·sum + constant`. Nothing for a constant.
pub(crate) fn primitive_sum(e: &Expr) -> Option<(Expr, i64)> {
    let factor = common_factor(e)?;
    if factor == 1 {
        return Some((e.without_constant(), 1));
    }
    let divided = |t: &Term| Some(Term { coefficient: t.coefficient.checked_div(factor)?, atom: t.atom.clone() });
    let terms = e.terms().iter().map(divided).collect::<Option<Terms>>()?;
    Some((Expr::from_sorted(0, terms), factor))
}

/// The `x` with `factor·x + constant` in `bounds`. The ends of `i64` stay ends: they are no bounds.
pub(crate) fn solve(bounds: Interval, factor: i64, constant: i64) -> Interval {
    // An end beyond i64 says nothing about x that could be kept, since the ends of i64 mean "no bound".
    solve_exactly(bounds, factor, constant).unwrap_or(Interval::EVERYTHING)
}

/// As [`solve`], but nothing where an end of the answer does not fit: an equivalence may not lose a bound.
pub(crate) fn solve_exactly(bounds: Interval, factor: i64, constant: i64) -> Option<Interval> {
    let constant = Some(i128::from(constant));
    let (lo, hi) = solved_ends(bounds, (constant, constant), factor);
    exact_interval(lo, hi)
}

/// An interval that holds every `x` with `factor·x + b` in `bounds` for some `b` in `others`.
pub(crate) fn allowed(bounds: Interval, others: Interval, factor: i64) -> Interval {
    let (lo, hi) = solved_ends(bounds, (others.bound_below(), others.bound_above()), factor);
    Interval::of_ends(lo, hi)
}

/// The interval with exactly these ends, where a missing end is no bound; nothing where an end is not within `i64`, or is
/// one of the two values that stand for no bound.
pub(crate) fn exact_interval(lo: Option<i128>, hi: Option<i128>) -> Option<Interval> {
    if let (Some(lo), Some(hi)) = (lo, hi)
        && lo > hi
    {
        return Some(Interval::EMPTY);
    }
    let fits = |end: i128| i64::try_from(end).ok().filter(|v| *v != i64::MIN && *v != i64::MAX);
    let end = |end: Option<i128>, open: i64| end.map_or(Some(open), fits);
    Some(Interval::new(end(lo, i64::MIN)?, end(hi, i64::MAX)?))
}

/// `⌈n / d⌉` for positive `d`.
pub(crate) fn ceil_div(n: i128, d: i128) -> i128 {
    -(-n).div_euclid(d)
}

type Ends = (Option<i128>, Option<i128>);

/// The least and the greatest `x` with `factor·x + b` in `bounds` for some `b` between `others`; a missing end is no bound.
fn solved_ends(bounds: Interval, others: Ends, factor: i64) -> Ends {
    let minus = |a: Option<i128>, b: Option<i128>| Some(a? - b?);
    let low = minus(bounds.bound_below(), others.1);
    let high = minus(bounds.bound_above(), others.0);
    let magnitude = i128::from(factor.unsigned_abs());
    match factor {
        0 => (None, None),
        // Divisions of such wide numbers are slow, and most factors are one.
        1 => (low, high),
        2.. => (low.map(|n| ceil_div(n, magnitude)), high.map(|n| n.div_euclid(magnitude))),
        _ => (high.map(|n| ceil_div(-n, magnitude)), low.map(|n| (-n).div_euclid(magnitude))),
    }
}
