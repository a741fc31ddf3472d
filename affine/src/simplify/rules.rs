//! The rules of floor division and remainder, one file per theory; each is an equation with a side condition.
//!
//! A rule gets the argument and the divisor, and returns an equal expression, or nothing when its side condition cannot be
//! proved: *unknown is false*. Constants are computed with checks; overflow means no rewrite. Law tests evaluate both
//! sides of whatever a rule returns over a box of integers.

pub(crate) mod floordiv;
pub(crate) mod modulo;

#[cfg(test)]
mod laws;

use crate::interval::gcd;
use crate::range::Analysis;
use crate::{Expr, Term};

/// A rule about `x // c` or `x mod c`.
pub(crate) struct Rule {
    /// Its name in derivations.
    pub(crate) name: &'static str,
    /// The equation, for readers and for failing tests. `c, k, g, m` are positive constants.
    #[cfg_attr(not(test), expect(dead_code, reason = "the equation is shown by the law tests"))]
    pub(crate) equation: &'static str,
    /// The right side for an argument and a divisor greater than one.
    pub(crate) apply: fn(&mut Analysis, &Expr, i64) -> Option<Expr>,
}

macro_rules! rules {
    ($($name:literal : $equation:literal => $apply:path;)*) => {
        &[$($crate::simplify::rules::Rule { name: $name, equation: $equation, apply: $apply }),*]
    };
}
pub(crate) use rules;

/// Splits a sum by a test on its terms; the constant goes to the second part.
fn split(x: &Expr, first: impl Fn(&Term) -> bool) -> (Vec<Term>, Expr) {
    let (yes, no): (Vec<Term>, Vec<Term>) = x.terms().iter().cloned().partition(first);
    (yes, Expr::from_sorted(x.constant_term(), no))
}

/// The sum of terms with every coefficient divided by a divisor of all of them.
fn divided(terms: &[Term], divisor: i64) -> Expr {
    let smaller = terms.iter().map(|t| Term { coefficient: t.coefficient / divisor, atom: t.atom.clone() });
    Expr::from_sorted(0, smaller.collect())
}

/// `x = c·y + z` where the coefficients of `z` are as near to zero as can be: the `z` of least width. Half of `c` counts as
/// negative on demand. Nothing when `z` would be `x`.
fn nearest(x: &Expr, c: i64, half_is_negative: bool) -> Option<(Expr, Expr)> {
    let (mut quotients, mut rests) = (Vec::new(), Vec::new());
    for term in x.terms() {
        let low = term.coefficient.rem_euclid(c);
        let rest = if low > c - low || (half_is_negative && low == c - low) { low - c } else { low };
        let quotient = term.coefficient.checked_sub(rest)? / c;
        let with = |coefficient| Term { coefficient, atom: term.atom.clone() };
        if quotient != 0 {
            quotients.push(with(quotient));
        }
        if rest != 0 {
            rests.push(with(rest));
        }
    }
    if quotients.is_empty() {
        return None;
    }
    Some((Expr::from_sorted(0, quotients), Expr::from_sorted(x.constant_term(), rests)))
}

/// `x = g·y + b`, `c = g·m`, and all of `b` in `g·t ..= g·t + g − 1`: the largest such `g > 1`, as `(g, y, b, t)`.
fn aligned(analysis: &mut Analysis, x: &Expr, c: i64) -> Option<(i64, Expr, Expr, i64)> {
    let mut factors: Vec<i64> = x
        .terms()
        .iter()
        .filter_map(|t| i64::try_from(gcd(t.coefficient.unsigned_abs(), c.unsigned_abs())).ok())
        .filter(|g| *g > 1)
        .collect();
    factors.sort_unstable_by(|a, b| b.cmp(a));
    factors.dedup();
    for g in factors {
        let (multiples, rest) = split(x, |t| t.coefficient % g == 0);
        if let Some(low) = analysis.range(&rest).floor_div(g).as_point() {
            return Some((g, divided(&multiples, g), rest, low));
        }
    }
    None
}
