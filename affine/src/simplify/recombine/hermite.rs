//! Hermite's identity: the quotients of `x`, `x + 1`, …, `x + n − 1` by `n` sum to `x`.

use super::{Recombination, letters_of};
use crate::simplify::context::Context;
use crate::{Atom, Expr, Term};

/// `a·(x // n) + a·((x + 1) // n) + … + a·((x + n − 1) // n) = a·x`, and `a·n·(n − 1)/2` with remainders in place of the
/// quotients; also where some summands are missing.
pub(in crate::simplify) fn hermite(
    context: &mut Context,
    e: &Expr,
    term: &Term,
    x: &Expr,
    n: i64,
) -> Option<Recombination> {
    let same_kind = |atom: &Atom| std::mem::discriminant(atom) == std::mem::discriminant(&term.atom);
    let is_one = |atom: &Atom| {
        same_kind(atom) && divisor(atom) == Some(n) && atom.argument().is_some_and(|y| y.terms() == x.terms())
    };
    if !most_are_there(e, n, is_one) {
        return None;
    }
    if n == 2 && x.constant_term() == 0 && e.constant_term() == 0 && !is_there(e, term, x) {
        return None;
    }
    let x = x.without_constant();
    let mut letters = letters_of([('x', &x)], [('n', n)]);
    let is_quotient = matches!(term.atom, Atom::FloorDiv(..));
    let after = if is_quotient {
        x.clone()
    } else {
        let q = Expr::constant(n.checked_mul(n - 1)? / 2);
        letters.push(('q', q.clone()));
        q
    };
    let mut before = Expr::constant(0);
    for i in 0..n {
        let shifted = x.checked_add_constant(i).ok()?;
        let one = if is_quotient { shifted.checked_floor_div(n) } else { shifted.checked_modulo(n) };
        before = before.checked_add(&one.ok()?).ok()?;
    }
    let a = term.coefficient;
    let sum = e.checked_add_scaled(&before, a.checked_neg()?).ok()?.checked_add_scaled(&after, a).ok()?;
    Some(Recombination { letters, before, after, sum: context.if_cheaper(e, sum)? })
}

/// True where the other of two halves of `x` is a summand, or some of `x` is: without, the half that is there gives way to
/// the other, which has a constant within and leaves one outside.
fn is_there(e: &Expr, half: &Term, x: &Expr) -> bool {
    e.terms().iter().any(|t| {
        x.terms().iter().any(|own| own.atom == t.atom)
            || (t.atom != half.atom && t.atom.argument().is_some_and(|y| y.terms() == x.terms()))
    })
}

fn divisor(atom: &Atom) -> Option<i64> {
    match atom {
        Atom::Var(_) => None,
        Atom::FloorDiv(_, c) | Atom::Mod(_, c) => Some(*c),
    }
}

/// True where at least half of `n` summands occur: fewer would leave more summands than they replace.
fn most_are_there(e: &Expr, n: i64, is_one: impl Fn(&Atom) -> bool) -> bool {
    let most = i64::try_from(e.terms().len()).unwrap_or(i64::MAX).saturating_mul(2);
    n <= most
        && i64::try_from(e.terms().iter().filter(|t| is_one(&t.atom)).count()).is_ok_and(|present| present * 2 >= n)
}
