//! The final pass: placement of constants and signs where they cost least.
//!
//! The normal form keeps them in one canonical place, which may not be the cheapest. Here constants move into or out of a
//! division, and reversed remainders turn back, where that makes the expression cheaper, and no dividend negative that was not:
//! a negative remainder costs a kernel nothing, a negative quotient does. Simplifying again restores the canonical place first,
//! so the whole stays idempotent.

use rustc_hash::FxHashMap;

use super::normal::Normalizer;
use super::rules::floordiv;
use super::rules::sum::{MOD_OF_COMPLEMENT, MOD_OF_CONGRUENT, SHIFT_ARGUMENT};
use crate::expr::{Terms, postorder};
use crate::{Atom, Expr, Law, Term};

/// The cheapest arrangement of constants and signs of `e`, which is in normal form.
pub(super) fn finish(normalizer: &mut Normalizer, e: &Expr) -> Expr {
    if e.is_linear() {
        return e.clone();
    }
    if e.tree_size() <= MAX_DIRECT_TREE {
        return finish_tree(normalizer, e);
    }
    let mut done: FxHashMap<u128, Expr> = FxHashMap::default();
    let mut last = e.clone();
    for node in postorder([e]) {
        last = finish_sum(normalizer, &node, &mut |_, x| done.get(&x.structural_hash()).cloned());
        done.insert(node.structural_hash(), last.clone());
    }
    last
}

/// Trees up to this size are walked directly.
const MAX_DIRECT_TREE: u64 = 32;

fn finish_tree(normalizer: &mut Normalizer, e: &Expr) -> Expr {
    finish_sum(normalizer, e, &mut |normalizer, x| {
        Some(if x.is_linear() { x.clone() } else { finish_tree(normalizer, x) })
    })
}

fn finish_sum(normalizer: &mut Normalizer, e: &Expr, argument: Argument<'_>) -> Expr {
    let mut last = arguments_replaced(normalizer, e, argument).unwrap_or_else(|| e.clone());
    // Each move makes the sum cheaper, so few are possible; the bound only guards the loop.
    for _ in 0..8 {
        match cheaper(normalizer, &last) {
            Some(next) => last = next,
            None => break,
        }
    }
    last
}

/// Gives the finished form of an argument.
type Argument<'a> = &'a mut dyn FnMut(&mut Normalizer, &Expr) -> Option<Expr>;

fn arguments_replaced(normalizer: &mut Normalizer, node: &Expr, argument: Argument<'_>) -> Option<Expr> {
    let mut changed = false;
    let terms = node.terms().iter().map(|t| {
        let atom = match &t.atom {
            Atom::Var(v) => Atom::Var(*v),
            Atom::FloorDiv(x, c) => {
                let new = argument(normalizer, x)?;
                changed |= new != *x;
                Atom::FloorDiv(new, *c)
            }
            Atom::Mod(x, c) => {
                // A constant that moved out of the argument's terms is taken modulo again.
                let new = &argument(normalizer, x)?;
                changed |= new != x;
                if (0..*c).contains(&new.constant_term()) {
                    return Some(Term { coefficient: t.coefficient, atom: Atom::Mod(new.clone(), *c) });
                }
                let within = Expr::from_sorted(new.constant_term().rem_euclid(*c), new.terms().into());
                let letters = [('x', new.clone()), ('y', within.clone())];
                let (before, after) = (new.checked_modulo(*c).ok()?, within.checked_modulo(*c).ok()?);
                record(normalizer, MOD_OF_CONGRUENT, letters, *c, &before, &after);
                Atom::Mod(within, *c)
            }
        };
        Some(Term { coefficient: t.coefficient, atom })
    });
    let terms: Terms = terms.collect::<Option<_>>()?;
    if !changed {
        return None;
    }
    Expr::sum(node.constant_term(), terms).ok()
}

fn record<const N: usize>(
    normalizer: &mut Normalizer,
    law: &'static Law,
    letters: [(char, Expr); N],
    c: i64,
    before: &Expr,
    after: &Expr,
) {
    let context = &mut normalizer.context;
    context.forget();
    for (letter, meaning) in &letters {
        context.bind(*letter, meaning);
    }
    context.number('c', c);
    context.record(law, before, after);
}

/// A way to write one division or remainder: by which law, with what argument, and the whole.
struct Arrangement {
    law: &'static Law,
    letters: [(char, Expr); 2],
    argument: Expr,
    written: Expr,
}

fn cheaper(normalizer: &mut Normalizer, e: &Expr) -> Option<Expr> {
    for term in e.terms() {
        let a = term.coefficient;
        let old = Expr::from_atom(term.atom.clone());
        let (x, c, candidates) = match &term.atom {
            Atom::Var(_) => continue,
            Atom::FloorDiv(x, c) => {
                let turned = may_gain(e, a, x, *c, 0).then(|| turned_quotient(x, *c)).flatten();
                (x, *c, [moved_quotient(e, a, x, *c), turned])
            }
            Atom::Mod(x, c) => {
                let turned = may_gain(e, a, x, *c, c - 1).then(|| turned_remainder(x, *c)).flatten();
                (x, *c, [turned, None])
            }
        };
        for new in candidates.into_iter().flatten() {
            let rest = e.checked_add_scaled(&old, a.checked_neg()?);
            let Ok(whole) = rest.and_then(|rest| rest.checked_add_scaled(&new.written, a)) else { continue };
            if whole.cost() < e.cost() {
                let analysis = &mut normalizer.context.analysis;
                let (before, after) = (analysis.range(x), analysis.range(&new.argument));
                if after.lo >= 0 || before.lo < 0 || matches!(term.atom, Atom::Mod(..)) {
                    record(normalizer, new.law, new.letters, c, &old, &new.written);
                    return Some(whole);
                }
            }
        }
    }
    None
}

/// Turning `a·f(x)` into `−a·f(c − 1 − x)` plus a multiple of `outside` only makes something cheaper where a factor −1 or a
/// constant goes away.
fn may_gain(e: &Expr, a: i64, x: &Expr, c: i64, outside: i64) -> bool {
    a == -1
        || x.constant_term() == c - 1
        || x.terms().iter().any(|t| t.coefficient == -1)
        || (e.constant_term() != 0 && a.checked_mul(outside) == e.constant_term().checked_neg())
}

/// `x // c = (x − c) // c + 1`, where that takes up the constant of the sum. The normal form keeps the constant of an
/// argument in `0 .. c`, so one step below is the only other place that reads well.
fn moved_quotient(e: &Expr, a: i64, x: &Expr, c: i64) -> Option<Arrangement> {
    if a.checked_neg()? != e.constant_term() {
        return None;
    }
    let argument = x.checked_add_constant(c.checked_neg()?).ok()?;
    let written = argument.checked_floor_div(c).ok()?.checked_add_constant(1).ok()?;
    Some(Arrangement { law: SHIFT_ARGUMENT, letters: [('x', x.clone()), ('q', Expr::constant(1))], argument, written })
}

/// `x // c = −((c − 1 − x) // c)`.
fn turned_quotient(x: &Expr, c: i64) -> Option<Arrangement> {
    let argument = x.checked_neg().ok()?.checked_add_constant(c - 1).ok()?;
    let written = argument.checked_floor_div(c).ok()?.checked_neg().ok()?;
    Some(Arrangement {
        law: floordiv::REVERSED,
        letters: [('x', x.clone()), ('y', argument.clone())],
        argument,
        written,
    })
}

/// `x mod c = c − 1 − (−x − 1) mod c`.
fn turned_remainder(x: &Expr, c: i64) -> Option<Arrangement> {
    let reversed = x.checked_neg().ok()?.checked_add_constant(-1).ok()?;
    // As the normal form has it: the constant within the modulus, and half the modulus never negative.
    let terms = reversed.terms().iter().map(|t| {
        let coefficient = if t.coefficient.checked_mul(-2) == Some(c) { -t.coefficient } else { t.coefficient };
        Term { coefficient, atom: t.atom.clone() }
    });
    let argument = Expr::from_sorted(reversed.constant_term().rem_euclid(c), terms.collect());
    let written = Expr::constant(c - 1).checked_sub(&argument.checked_modulo(c).ok()?).ok()?;
    Some(Arrangement {
        law: MOD_OF_COMPLEMENT,
        letters: [('x', x.clone()), ('y', argument.clone())],
        argument,
        written,
    })
}
