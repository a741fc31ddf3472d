//! Rules of the remainder by a positive constant. Letters are any integer expression.

use super::{Rule, aligned, nearest, rules};
use crate::range::Analysis;
use crate::{Atom, Expr, Term};

/// Rules of the normal form, in the order in which they are tried.
pub(crate) const RULES: &[Rule] = rules! {
    "mod-multiple": "(c·y + z) mod c = z mod c" => multiple;
    "mod-of-mod": "(m·(x mod k) + r) mod c = (m·x + r) mod c where c | m·k" => of_mod;
    "mod-constant": "x mod c = x − c·q where q·c ≤ x < (q + 1)·c" => constant;
    "mod-aligned": "(g·y + b) mod (g·m) = g·((y + t) mod m) + b − g·t where g·t ≤ b < g·(t + 1)" => by_alignment;
    "mod-reversed": "(−x − 1) mod c = c − 1 − x mod c" => reversed;
};

/// Rules that do not by themselves make anything cheaper; only the e-graph tries them.
pub(crate) const EXPLORING: &[Rule] = rules! {
    "mod-definition": "x mod c = x − c·(x // c)" => definition;
    "mod-of-div": "(x // k) mod c = (x mod (k·c)) // k" => of_div;
};

fn multiple(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    let mut terms = Vec::with_capacity(x.terms().len());
    let mut changed = !(0..c).contains(&x.constant_term());
    for term in x.terms() {
        // Small negative coefficients stay; the one that equals its own negation modulo c becomes positive.
        let mut coefficient = term.coefficient % c;
        if coefficient < 0 && coefficient.checked_add(c)? == -coefficient {
            coefficient = -coefficient;
        }
        changed |= coefficient != term.coefficient;
        if coefficient != 0 {
            terms.push(Term { coefficient, atom: term.atom.clone() });
        }
    }
    if !changed {
        return None;
    }
    Expr::from_sorted(x.constant_term().rem_euclid(c), terms).checked_modulo(c).ok()
}

fn of_mod(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    let (i, y) = x.terms().iter().enumerate().find_map(|(i, t)| match &t.atom {
        Atom::Mod(y, k) if t.coefficient.checked_mul(*k)? % c == 0 => Some((i, y)),
        _ => None,
    })?;
    let m = x.terms()[i].coefficient;
    let mut rest = x.terms().to_vec();
    rest.remove(i);
    Expr::from_sorted(x.constant_term(), rest).checked_add_scaled(y, m).ok()?.checked_modulo(c).ok()
}

fn constant(analysis: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    if let Some(rest) = rest_of(analysis, x, c) {
        return Some(rest);
    }
    [false, true].into_iter().find_map(|half_is_negative| {
        let (_, z) = nearest(x, c, half_is_negative)?;
        rest_of(analysis, &z, c)
    })
}

/// `x mod c`, where `x // c` is one number over the whole domain, or the remainder itself is.
fn rest_of(analysis: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    if let Some(quotient) = analysis.range(x).floor_div(c).as_point() {
        return x.checked_add_constant(quotient.checked_mul(c)?.checked_neg()?).ok();
    }
    let class = analysis.congruence(x);
    (class.modulus != 0 && class.modulus.is_multiple_of(c.unsigned_abs()))
        .then(|| Expr::constant(class.residue.rem_euclid(c)))
}

fn by_alignment(analysis: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    let (g, y, b, t) = aligned(analysis, x, c)?;
    let high = y.checked_add_constant(t).ok()?.checked_modulo(c / g).ok()?;
    b.checked_add_constant(g.checked_mul(t)?.checked_neg()?).ok()?.checked_add_scaled(&high, g).ok()
}

fn reversed(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    if x.terms().first()?.coefficient > 0 {
        return None;
    }
    let forward = x.checked_neg().ok()?.checked_add_constant(-1).ok()?;
    Expr::constant(c - 1).checked_sub(&forward.checked_modulo(c).ok()?).ok()
}

fn definition(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    x.checked_add_scaled(&x.checked_floor_div(c).ok()?, c.checked_neg()?).ok()
}

fn of_div(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    match x.as_atom()? {
        Atom::FloorDiv(y, k) => y.checked_modulo(k.checked_mul(c)?).ok()?.checked_floor_div(*k).ok(),
        _ => None,
    }
}
