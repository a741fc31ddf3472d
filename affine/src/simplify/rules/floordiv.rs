//! Rules of floor division. Letters are any integer expression; `/` is written `//` and floors.

use super::{Rule, aligned, divided, nearest, rules, split};
use crate::range::Analysis;
use crate::{Atom, Expr};

/// Rules of the normal form, in the order in which they are tried.
pub(crate) const RULES: &[Rule] = rules! {
    "div-multiple": "(c·y + z) // c = y + z // c" => multiple;
    "div-constant": "x // c = q where q·c ≤ x < (q + 1)·c; (c·y + z) // c = y + q where z // c = q" => constant;
    "div-aligned": "(g·y + b) // (g·m) = (y + t) // m where g·t ≤ b < g·(t + 1)" => by_alignment;
    "div-of-mod": "(x mod (k·c)) // c = (x // c) mod k" => of_mod;
    "div-nested": "(x // k + r) // c = (x + k·r) // (k·c)" => nested;
    "div-residue": "(k·v + z) // c = (k·m / c)·(v // m) + q where v ≡ r (mod m), c | k·m, (k·r + z) // c = q" => residue;
    "div-reversed": "(z − x) // c = −((x − z + c − 1) // c)" => reversed;
};

/// Rules that do not by themselves make anything cheaper; only the e-graph tries them.
pub(crate) const EXPLORING: &[Rule] = rules! {
    "div-open-mod": "(m·(x mod k) + r) // c = (m·x + r) // c − (m·k / c)·(x // k) where c | m·k" => open_mod;
    "div-shift": "(k·y + z) // c = q·y + ((k − c·q)·y + z) // c" => shift;
};

fn multiple(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    let (multiples, rest) = split(x, |t| t.coefficient % c == 0);
    let outside = x.constant_term().div_euclid(c);
    if multiples.is_empty() && outside == 0 {
        return None;
    }
    let inside = Expr::from_sorted(x.constant_term().rem_euclid(c), rest.terms().to_vec());
    let quotient = divided(&multiples, c).checked_add_constant(outside).ok()?;
    quotient.checked_add(&inside.checked_floor_div(c).ok()?).ok()
}

fn constant(analysis: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    if let Some(q) = quotient_of(analysis, x, c) {
        return Some(Expr::constant(q));
    }
    [false, true].into_iter().find_map(|half_is_negative| {
        let (y, z) = nearest(x, c, half_is_negative)?;
        y.checked_add_constant(quotient_of(analysis, &z, c)?).ok()
    })
}

/// `x // c`, where it is one number over the whole domain.
fn quotient_of(analysis: &mut Analysis, x: &Expr, c: i64) -> Option<i64> {
    analysis.range(x).floor_div(c).as_point()
}

fn by_alignment(analysis: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    let (g, y, _, t) = aligned(analysis, x, c)?;
    y.checked_add_constant(t).ok()?.checked_floor_div(c / g).ok()
}

fn of_mod(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    match x.as_atom()? {
        Atom::Mod(y, m) if m % c == 0 => y.checked_floor_div(c).ok()?.checked_modulo(m / c).ok(),
        _ => None,
    }
}

fn nested(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    let (i, y, k) = x.terms().iter().enumerate().find_map(|(i, t)| match (&t.atom, t.coefficient) {
        (Atom::FloorDiv(y, k), 1 | -1) => Some((i, y, *k)),
        _ => None,
    })?;
    let mut rest = x.terms().to_vec();
    let taken = rest.remove(i);
    let rest = Expr::from_sorted(x.constant_term(), rest);
    let divisor = k.checked_mul(c)?;
    let inner = if taken.coefficient == 1 {
        y.clone()
    } else {
        // −(y // k) = (−y + k − 1) // k.
        y.checked_neg().ok()?.checked_add_constant(k - 1).ok()?
    };
    inner.checked_add_scaled(&rest, k).ok()?.checked_floor_div(divisor).ok()
}

fn residue(analysis: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    if !analysis.has_facts() {
        return None;
    }
    for (i, term) in x.terms().iter().enumerate() {
        let v = Expr::from_atom(term.atom.clone());
        let Some(class) = analysis.known_residue(&v) else { continue };
        let Ok(m) = i64::try_from(class.modulus) else { continue };
        let Some(period) = term.coefficient.checked_mul(m).filter(|p| p % c == 0) else { continue };
        let mut rest = x.terms().to_vec();
        rest.remove(i);
        let constant = term.coefficient.checked_mul(class.residue)?.checked_add(x.constant_term())?;
        let rest = Expr::from_sorted(constant, rest);
        if let Some(q) = quotient_of(analysis, &rest, c) {
            return Expr::constant(q).checked_add_scaled(&v.checked_floor_div(m).ok()?, period / c).ok();
        }
    }
    None
}

fn reversed(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    if x.terms().first()?.coefficient > 0 {
        return None;
    }
    x.checked_neg().ok()?.checked_add_constant(c - 1).ok()?.checked_floor_div(c).ok()?.checked_neg().ok()
}

fn open_mod(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    let (i, y, k) = x.terms().iter().enumerate().find_map(|(i, t)| match &t.atom {
        Atom::Mod(y, k) if t.coefficient.checked_mul(*k)? % c == 0 => Some((i, y, *k)),
        _ => None,
    })?;
    let m = x.terms()[i].coefficient;
    let mut rest = x.terms().to_vec();
    rest.remove(i);
    let opened = Expr::from_sorted(x.constant_term(), rest).checked_add_scaled(y, m).ok()?;
    let whole = y.checked_floor_div(k).ok()?;
    opened.checked_floor_div(c).ok()?.checked_add_scaled(&whole, -(m * k / c)).ok()
}

fn shift(_: &mut Analysis, x: &Expr, c: i64) -> Option<Expr> {
    let (y, z) = nearest(x, c, false)?;
    y.checked_add(&z.checked_floor_div(c).ok()?).ok()
}
