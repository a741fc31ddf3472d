//! The rules of the algebra, a file for each operation; each is an equation with its side condition.
//!
//! A rule of floor division or remainder gets the argument and the divisor, and returns an equal expression, or nothing when its
//! side condition cannot be proved: *unknown is false*. Constants are computed with checks; overflow means no rewrite.
//! Tests evaluate both sides of each equation over a box of integers, whatever a rule returns over random domains, and hand
//! the equations to an SMT solver.

pub(crate) mod definition;
pub(crate) mod floordiv;
pub(crate) mod modulo;
pub(crate) mod sum;

#[cfg(test)]
pub(crate) mod laws;

use std::sync::LazyLock;

use num_integer::gcd;
use smallvec::SmallVec;

use super::context::Context;
use super::normal::Normalizer;
use super::recombine::Recombination;
use crate::expr::Terms;
use crate::{Expr, Law, Term};

/// A law and the code that finds where it applies.
pub(crate) struct Rule<F> {
    /// What it claims.
    pub(crate) law: &'static Law,
    /// Where it applies.
    pub(crate) apply: F,
}

/// A rule about `x // c` or `x mod c`: the right side for an argument and a divisor greater than one. Binds the letters of the
/// law on the way, and refuses where a condition is not proved.
pub(crate) type OperationRule = Rule<fn(&mut Context, &Expr, i64) -> Option<Expr>>;

/// A rule about a sum with a term `a·(x // c)` or `a·(x mod c)`, given with its argument and divisor: a cheaper sum.
pub(crate) type SumRule = Rule<fn(&mut Normalizer, &Expr, &Term, &Expr, i64) -> Option<Recombination>>;

/// Rules in the order in which they are tried: the name, equation and condition of the law, or a law that others use as well,
/// and the function.
macro_rules! rules {
    (@law $name:literal $equation:literal $($condition:literal)?) => {
        &$crate::law::law!($name: $equation $(if $condition)?)
    };
    (@law $law:ident) => { $law };
    ($($law:tt $(: $equation:literal $(if $condition:literal)?)? => $apply:expr;)*) => {
        &[$($crate::simplify::rules::Rule {
            law: $crate::simplify::rules::rules!(@law $law $($equation $($condition)?)?),
            apply: $apply,
        }),*]
    };
}
pub(crate) use rules;

/// Every law that the simplifier may use: of construction, floor division, remainder and sums; and those of constraints. Each
/// has a [name](Law::name) of its own.
pub fn laws() -> &'static [&'static Law] {
    static LAWS: LazyLock<Vec<&'static Law>> = LazyLock::new(|| {
        let of_operations =
            [floordiv::RULES, floordiv::EXPLORING, modulo::RULES, modulo::EXPLORING].into_iter().flatten();
        let of_sums = [sum::OF_FLOORDIV, sum::OF_MOD].into_iter().flatten();
        let others = [sum::LAWS, crate::constraint::LAWS].into_iter().flatten().copied();
        let all = definition::LAWS.iter().copied().chain(of_operations.map(|rule| rule.law));
        let mut laws: Vec<&'static Law> = Vec::new();
        for law in all.chain(of_sums.map(|rule| rule.law)).chain(others) {
            // Several rules may go by one law.
            if !laws.contains(&law) {
                laws.push(law);
            }
        }
        laws
    });
    &LAWS
}

/// The terms of `y` and of `b` in `x = g·y + b + constant`, where `b` has no coefficient that `g` divides.
fn split(x: &Expr, g: i64) -> (Terms, Terms) {
    let (mut y, mut b) = (Terms::new(), Terms::new());
    for t in x.terms() {
        if t.coefficient % g == 0 {
            y.push(Term { coefficient: t.coefficient / g, atom: t.atom.clone() });
        } else {
            b.push(t.clone());
        }
    }
    (y, b)
}

/// The ways to read half of `c` as a coefficient modulo `c`: as positive, and as negative where one occurs.
fn halves(x: &Expr, c: i64) -> impl Iterator<Item = bool> {
    let occurs = c % 2 == 0 && x.terms().iter().any(|t| t.coefficient.rem_euclid(c) == c / 2);
    std::iter::once(false).chain(occurs.then_some(true))
}

/// `x = c·y + z` where the coefficients of `z` are as near to zero as can be: the `z` of least width. Half of `c` counts as
/// negative on demand. Nothing when `z` would be `x`.
pub(super) fn nearest(x: &Expr, c: i64, half_is_negative: bool) -> Option<(Expr, Expr)> {
    let near = |a: i64| (i128::from(a) * 2).unsigned_abs() < c.unsigned_abs().into();
    if x.terms().iter().all(|t| near(t.coefficient)) {
        return None;
    }
    let (mut quotients, mut rests) = (Terms::new(), Terms::new());
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

/// `x = g·y + b`, `c = g·m`, and all of `b` in `g·t ..= g·t + g − 1`.
struct Aligned {
    g: i64,
    y: Expr,
    b: Expr,
    t: i64,
}

/// The alignment with the largest such `g > 1`. A coefficient that `g` does not divide may be split between `y` and `b`
/// where asked for: then terms occur in both.
fn aligned(context: &mut Context, x: &Expr, c: i64, may_split: bool) -> Option<Aligned> {
    let mut factors: SmallVec<[i64; 4]> = x
        .terms()
        .iter()
        .filter_map(|t| i64::try_from(gcd(t.coefficient.unsigned_abs(), c.unsigned_abs())).ok())
        .filter(|g| *g > 1)
        .collect();
    factors.sort_unstable();
    factors.reverse();
    factors.dedup();
    for g in factors {
        let (y, b) = split(x, g);
        let (y, b) = (Expr::from_sorted(0, y), Expr::from_sorted(x.constant_term(), b));
        context.number('g', g);
        context.number('m', c / g);
        if let Some(found) = aligned_by(context, g, y, b) {
            return Some(found);
        }
        if may_split
            && let Some((y, b)) = nearest(x, g, false)
            && let Some(found) = aligned_by(context, g, y, b)
        {
            return Some(found);
        }
    }
    None
}

/// `x = g·y + b`, where all of `b` lies between two multiples of `g`.
fn aligned_by(context: &mut Context, g: i64, y: Expr, b: Expr) -> Option<Aligned> {
    context.bind('y', &y);
    context.bind('b', &b);
    let t = context.one_quotient('t', &b, g)?;
    Some(Aligned { g, y, b, t })
}

/// The first term that `pick` accepts, what `pick` made of it, and the sum without it.
fn without_one<'a, T>(x: &'a Expr, pick: impl Fn(&'a Term) -> Option<T>) -> Option<(&'a Term, T, Expr)> {
    let (i, picked) = x.terms().iter().enumerate().find_map(|(i, t)| Some((i, pick(t)?)))?;
    let mut rest = Terms::from(x.terms());
    rest.remove(i);
    Some((x.terms().get(i)?, picked, Expr::from_sorted(x.constant_term(), rest)))
}
