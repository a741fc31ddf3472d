//! The last touch: the normal form keeps constants and signs in one canonical place, which may not be the cheapest.
//!
//! Here constants move into or out of a division, and reversed remainders turn back, where that makes the expression
//! cheaper and no argument negative that was not. Simplifying again restores the canonical place first, so the whole stays
//! idempotent.

use rustc_hash::FxHashMap;

use super::normal::Normalizer;
use crate::expr::postorder;
use crate::{Atom, Expr, Term};

/// The cheapest arrangement of constants and signs of `e`, which is in normal form.
pub(super) fn finish(normalizer: &mut Normalizer, e: &Expr) -> Expr {
    if e.is_linear() {
        return e.clone();
    }
    let mut done: FxHashMap<u128, Expr> = FxHashMap::default();
    let mut last = e.clone();
    for node in postorder([e]) {
        last = arguments_replaced(&node, &done).unwrap_or_else(|| node.clone());
        // Each move makes the sum cheaper, so few are possible; the bound only guards the loop.
        for _ in 0..8 {
            match cheaper(normalizer, &last) {
                Some(next) => {
                    normalizer.record("move-constant", &last, &next);
                    last = next;
                }
                None => break,
            }
        }
        done.insert(node.structural_hash(), last.clone());
    }
    last
}

fn arguments_replaced(node: &Expr, done: &FxHashMap<u128, Expr>) -> Option<Expr> {
    let terms = node.terms().iter().map(|t| {
        let atom = match &t.atom {
            Atom::Var(v) => Atom::Var(*v),
            Atom::FloorDiv(x, c) => Atom::FloorDiv(done.get(&x.structural_hash())?.clone(), *c),
            Atom::Mod(x, c) => {
                // A constant that moved out of the argument's terms is taken modulo again.
                let new = done.get(&x.structural_hash())?;
                let inside = new.constant_term().rem_euclid(*c);
                Atom::Mod(Expr::from_sorted(inside, new.terms().to_vec()), *c)
            }
        };
        Some(Term { coefficient: t.coefficient, atom })
    });
    let terms: Vec<Term> = terms.collect::<Option<_>>()?;
    Expr::sum(node.constant_term(), terms).ok()
}

fn cheaper(normalizer: &mut Normalizer, e: &Expr) -> Option<Expr> {
    for term in e.terms() {
        let a = term.coefficient;
        let old = Expr::from_atom(term.atom.clone());
        let (x, candidates) = match &term.atom {
            Atom::Var(_) => continue,
            Atom::FloorDiv(x, c) => (x, [into_quotient(e, a, x, *c), turned_quotient(a, x, *c)]),
            Atom::Mod(x, c) => (x, [turned_remainder(a, x, *c), None]),
        };
        for (argument, new) in candidates.into_iter().flatten() {
            let Ok(whole) = e.checked_add_scaled(&old, a.checked_neg()?).and_then(|rest| rest.checked_add(&new)) else {
                continue;
            };
            if whole.cost() < e.cost() {
                let (before, after) = (normalizer.analysis.range(x), normalizer.analysis.range(&argument));
                if after.lo >= 0 || before.lo < 0 {
                    return Some(whole);
                }
            }
        }
    }
    None
}

/// `a·(x // c) − a = a·((x − c) // c)`, as the new argument and what replaces `a·(x // c)`. The normal form keeps the
/// constant of an argument in `0 .. c`, so one step below is the only other place that reads well.
fn into_quotient(e: &Expr, a: i64, x: &Expr, c: i64) -> Option<(Expr, Expr)> {
    if a.checked_neg()? != e.constant_term() {
        return None;
    }
    let argument = x.checked_add_constant(c.checked_neg()?).ok()?;
    let quotient = argument.checked_floor_div(c).ok()?.checked_mul(a).ok()?;
    Some((argument, quotient.checked_add_constant(a).ok()?))
}

/// `a·(x // c) = −a·((−x + c − 1) // c)`.
fn turned_quotient(a: i64, x: &Expr, c: i64) -> Option<(Expr, Expr)> {
    let argument = x.checked_neg().ok()?.checked_add_constant(c - 1).ok()?;
    let turned = argument.checked_floor_div(c).ok()?.checked_mul(a.checked_neg()?).ok()?;
    Some((argument, turned))
}

/// `a·(x mod c) = a·(c − 1) − a·((−x − 1) mod c)`.
fn turned_remainder(a: i64, x: &Expr, c: i64) -> Option<(Expr, Expr)> {
    let reversed = x.checked_neg().ok()?.checked_add_constant(-1).ok()?;
    // As the normal form has it: the constant within the modulus, and half the modulus never negative.
    let terms = reversed.terms().iter().map(|t| {
        let coefficient = if t.coefficient.checked_mul(-2) == Some(c) { -t.coefficient } else { t.coefficient };
        Term { coefficient, atom: t.atom.clone() }
    });
    let argument = Expr::from_sorted(reversed.constant_term().rem_euclid(c), terms.collect());
    let turned = argument.checked_modulo(c).ok()?.checked_mul(a.checked_neg()?).ok()?;
    Some((argument, turned.checked_add_constant(a.checked_mul(c - 1)?).ok()?))
}
