//! Rules of floor division by a positive constant.

use super::{OperationRule, aligned, halves, nearest, rules, split, without_one};
use crate::expr::Terms;
use crate::law::law;
use crate::simplify::context::Context;
use crate::{Atom, Expr, Law};

pub(crate) const MULTIPLE: &Law = &law!("floordiv-of-multiple": "(c*y + z) floordiv c = y + z floordiv c" if "c > 0");
pub(crate) const NESTED: &Law =
    &law!("floordiv-of-floordiv": "(x floordiv k + z) floordiv c = (x + k*z) floordiv (k*c)" if "c > 0, k > 0");
pub(crate) const REVERSED: &Law = &law!("floordiv-of-negation": "x floordiv c = -((c - 1 - x) floordiv c)" if "c > 0");

/// Rules of the normal form, in the order in which they are tried.
pub(crate) const RULES: &[OperationRule] = rules! {
    MULTIPLE => multiple;
    "floordiv-in-range": "(c*y + z) floordiv c = y + q" if "c*q <= z < c*q + c" => constant;
    "floordiv-common-factor": "(g*y + b) floordiv (g*m) = (y + t) floordiv m" if "m > 0, g*t <= b < g*t + g" => by_alignment;
    "floordiv-of-mod": "(x mod (k*c)) floordiv c = (x floordiv c) mod k" if "c > 0, k > 0" => of_mod;
    NESTED => nested;
    "floordiv-of-negated-floordiv": "(z - x floordiv k) floordiv c = (k*z - x + k - 1) floordiv (k*c)" if "c > 0, k > 0" => nested_reversed;
    "floordiv-with-known-residue": "(h*v + z) floordiv c = p*(v floordiv m) + q"
        if "m > 0, h*m = c*p, v mod m = r, c*q <= h*r + z < c*q + c" => residue;
    REVERSED => reversed;
};

/// Rules that do not by themselves make anything cheaper; only the e-graph tries them.
pub(crate) const EXPLORING: &[OperationRule] = rules! {
    "floordiv-expand-mod": "(m*(x mod k) + z) floordiv c = (m*x + z) floordiv c - p*(x floordiv k)" if "c > 0, k > 0, m*k = c*p" => open_mod;
    "floordiv-split-multiple": "(k*y + z) floordiv c = q*y + ((k - c*q)*y + z) floordiv c" if "c > 0" => shift;
};

fn multiple(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let outside = x.constant_term().div_euclid(c);
    if outside == 0 && x.terms().iter().all(|t| t.coefficient % c != 0) {
        return None;
    }
    let (y, rest) = split(x, c);
    let y = Expr::from_sorted(outside, y);
    let z = Expr::from_sorted(x.constant_term().rem_euclid(c), rest);
    context.number('c', c);
    context.bind('y', &y);
    context.bind('z', &z);
    y.checked_add(&z.checked_floor_div(c).ok()?).ok()
}

fn constant(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    context.number('c', c);
    context.bind('z', x);
    context.number('y', 0);
    if let Some(q) = context.one_quotient('q', x, c) {
        return Some(Expr::constant(q));
    }
    halves(x, c).find_map(|half_is_negative| {
        let (y, z) = nearest(x, c, half_is_negative)?;
        context.bind('y', &y);
        context.bind('z', &z);
        let q = context.one_quotient('q', &z, c)?;
        y.checked_add_constant(q).ok()
    })
}

fn by_alignment(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let found = aligned(context, x, c, true)?;
    found.y.checked_add_constant(found.t).ok()?.checked_floor_div(c / found.g).ok()
}

fn of_mod(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    match x.as_atom()? {
        Atom::Mod(y, m) if m % c == 0 => {
            context.number('c', c);
            context.number('k', m / c);
            context.bind('x', y);
            y.checked_floor_div(c).ok()?.checked_modulo(m / c).ok()
        }
        _ => None,
    }
}

fn nested(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let (_, (y, k), z) = without_one(x, |t| quotient(t, 1))?;
    context.number('c', c);
    context.number('k', k);
    context.bind('x', y);
    context.bind('z', &z);
    y.checked_add_scaled(&z, k).ok()?.checked_floor_div(k.checked_mul(c)?).ok()
}

fn nested_reversed(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let (_, (y, k), z) = without_one(x, |t| quotient(t, -1))?;
    context.number('c', c);
    context.number('k', k);
    context.bind('x', y);
    context.bind('z', &z);
    let inner = z.checked_mul(k).ok()?.checked_sub(y).ok()?.checked_add_constant(k - 1).ok()?;
    inner.checked_floor_div(k.checked_mul(c)?).ok()
}

/// Argument and divisor of a floor division with this coefficient.
fn quotient(term: &crate::Term, coefficient: i64) -> Option<(&Expr, i64)> {
    match &term.atom {
        Atom::FloorDiv(y, k) if term.coefficient == coefficient => Some((y, *k)),
        _ => None,
    }
}

fn residue(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    if !context.analysis.has_facts() {
        return None;
    }
    for (i, term) in x.terms().iter().enumerate() {
        let v = Expr::from_atom(term.atom.clone());
        let Some(class) = context.analysis.known_residue(&v) else { continue };
        let Ok(m) = i64::try_from(class.modulus) else { continue };
        let Some(period) = term.coefficient.checked_mul(m).filter(|p| p % c == 0) else { continue };
        let mut rest = Terms::from(x.terms());
        rest.remove(i);
        let z = Expr::from_sorted(x.constant_term(), rest);
        let shifted = z.checked_add_constant(term.coefficient.checked_mul(class.residue)?).ok()?;
        for (letter, value) in [('c', c), ('m', m), ('h', term.coefficient), ('p', period / c), ('r', class.residue)] {
            context.number(letter, value);
        }
        context.bind('v', &v);
        context.bind('z', &z);
        if let Some(q) = context.one_quotient('q', &shifted, c) {
            return Expr::constant(q).checked_add_scaled(&v.checked_floor_div(m).ok()?, period / c).ok();
        }
    }
    None
}

fn reversed(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    if x.terms().first()?.coefficient > 0 {
        return None;
    }
    context.number('c', c);
    context.bind('x', x);
    x.checked_neg().ok()?.checked_add_constant(c - 1).ok()?.checked_floor_div(c).ok()?.checked_neg().ok()
}

fn open_mod(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let (term, (y, k), z) = without_one(x, |t| match &t.atom {
        Atom::Mod(y, k) if t.coefficient.checked_mul(*k)? % c == 0 => Some((y, *k)),
        _ => None,
    })?;
    let m = term.coefficient;
    let p = m.checked_mul(k)? / c;
    for (letter, value) in [('c', c), ('m', m), ('k', k), ('p', p)] {
        context.number(letter, value);
    }
    context.bind('x', y);
    context.bind('z', &z);
    let opened = z.checked_add_scaled(y, m).ok()?;
    let whole = y.checked_floor_div(k).ok()?;
    opened.checked_floor_div(c).ok()?.checked_add_scaled(&whole, p.checked_neg()?).ok()
}

fn shift(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let (y, z) = nearest(x, c, false)?;
    // With k = c·q the law splits off all of c·y at once.
    context.number('c', c);
    context.number('k', c);
    context.number('q', 1);
    context.bind('y', &y);
    context.bind('z', &z);
    y.checked_add(&z.checked_floor_div(c).ok()?).ok()
}
