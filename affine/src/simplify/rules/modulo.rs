//! Rules of the remainder by a positive constant.

use super::{OperationRule, aligned, halves, nearest, rules, without_one};
use crate::law::law;
use crate::simplify::context::Context;
use crate::{Atom, Expr, Law, Term};

pub(crate) const DEFINITION: &Law = &law!("mod-definition": "x mod c = x - c*(x floordiv c)" if "c > 0");
pub(crate) const ODD: &Law = &law!("mod-2-of-successor": "(x + 1) mod 2 = 1 - x mod 2");

/// Rules of the normal form, in the order in which they are tried.
pub(crate) const RULES: &[OperationRule] = rules! {
    "mod-of-multiple": "(c*y + z) mod c = z mod c" if "c > 0" => multiple;
    "mod-of-mod": "(m*(x mod k) + z) mod c = (m*x + z) mod c" if "c > 0, k > 0, c | m*k" => of_mod;
    "mod-in-range": "(c*y + z) mod c = z - c*q" if "c*q <= z < c*q + c" => constant;
    "mod-common-factor": "(g*y + b) mod (g*m) = g*((y + t) mod m) + b - g*t" if "m > 0, g*t <= b < g*t + g" => by_alignment;
    "mod-of-negation": "x mod c = c - 1 - (-x - 1) mod c" if "c > 0" => reversed;
};

/// Rules that do not by themselves make anything cheaper; only the e-graph tries them.
pub(crate) const EXPLORING: &[OperationRule] = rules! {
    DEFINITION => definition;
    ODD => odd;
    "mod-of-floordiv": "(x floordiv k) mod c = (x mod (k*c)) floordiv k" if "c > 0, k > 0" => of_div;
};

fn multiple(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let reduced = |t: &Term| reduced(t.coefficient, c);
    if (0..c).contains(&x.constant_term()) && x.terms().iter().all(|t| reduced(t) == t.coefficient) {
        return None;
    }
    let kept = x.terms().iter().map(|t| Term { coefficient: reduced(t), atom: t.atom.clone() });
    let z = Expr::from_sorted(x.constant_term().rem_euclid(c), kept.filter(|t| t.coefficient != 0).collect());
    context.number('c', c);
    context.bind('z', &z);
    context.bind_with('y', || {
        // The difference of two coefficients may leave i64, its quotient by c does not.
        let quotient = |t: &Term| {
            let quotient = (i128::from(t.coefficient) - i128::from(reduced(t))) / i128::from(c);
            Some(Term { coefficient: i64::try_from(quotient).ok()?, atom: t.atom.clone() })
        };
        let terms: Vec<Term> = x.terms().iter().map(quotient).collect::<Option<_>>()?;
        Expr::sum(x.constant_term().div_euclid(c), terms).ok()
    });
    z.checked_modulo(c).ok()
}

/// The coefficient modulo `c`. Small negative ones stay, since a digit may be reversed; the one that equals its own negation
/// modulo `c` becomes positive.
fn reduced(coefficient: i64, c: i64) -> i64 {
    let low = coefficient % c;
    if low < 0 && low.checked_add(c) == Some(-low) { -low } else { low }
}

fn of_mod(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let (term, (y, k), z) = without_one(x, |t| match &t.atom {
        Atom::Mod(y, k) if t.coefficient.checked_mul(*k)? % c == 0 => Some((y, *k)),
        _ => None,
    })?;
    let m = term.coefficient;
    for (letter, value) in [('c', c), ('m', m), ('k', k)] {
        context.number(letter, value);
    }
    context.bind('x', y);
    context.bind('z', &z);
    z.checked_add_scaled(y, m).ok()?.checked_modulo(c).ok()
}

fn constant(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    context.number('c', c);
    context.number('y', 0);
    if let Some(rest) = rest_of(context, x, c) {
        return Some(rest);
    }
    halves(x, c).find_map(|half_is_negative| {
        let (y, z) = nearest(x, c, half_is_negative)?;
        context.bind('y', &y);
        rest_of(context, &z, c)
    })
}

/// `z mod c`, where `z // c` is one number over the whole domain.
fn rest_of(context: &mut Context, z: &Expr, c: i64) -> Option<Expr> {
    context.bind('z', z);
    let q = context.one_quotient('q', z, c)?;
    z.checked_add_constant(q.checked_mul(c)?.checked_neg()?).ok()
}

fn by_alignment(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    let found = aligned(context, x, c, false)?;
    let high = found.y.checked_add_constant(found.t).ok()?.checked_modulo(c / found.g).ok()?;
    let low = found.b.checked_add_constant(found.g.checked_mul(found.t)?.checked_neg()?).ok()?;
    low.checked_add_scaled(&high, found.g).ok()
}

fn reversed(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    if x.terms().first()?.coefficient > 0 {
        return None;
    }
    context.number('c', c);
    context.bind('x', x);
    let forward = x.checked_neg().ok()?.checked_add_constant(-1).ok()?;
    Expr::constant(c - 1).checked_sub(&forward.checked_modulo(c).ok()?).ok()
}

fn odd(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    if c != 2 || x.constant_term() != 1 {
        return None;
    }
    let even = x.without_constant();
    context.bind('x', &even);
    Expr::constant(1).checked_sub(&even.checked_modulo(2).ok()?).ok()
}

fn definition(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    context.number('c', c);
    context.bind('x', x);
    x.checked_add_scaled(&x.checked_floor_div(c).ok()?, c.checked_neg()?).ok()
}

fn of_div(context: &mut Context, x: &Expr, c: i64) -> Option<Expr> {
    match x.as_atom()? {
        Atom::FloorDiv(y, k) => {
            context.number('c', c);
            context.number('k', *k);
            context.bind('x', y);
            y.checked_modulo(k.checked_mul(c)?).ok()?.checked_floor_div(*k).ok()
        }
        _ => None,
    }
}
