//! The canonical form of remainders, up to multiples of the modulus and `(-x - 1) mod c = c - 1 - x mod c`.

use weft_affine::{Atom, Expr};

/// The expression with all remainders in it in one form; nothing where a number does not fit.
pub(super) fn canonical(e: &Expr) -> Option<Expr> {
    if e.is_linear() {
        return Some(e.clone());
    }
    let mut sum = Expr::constant(e.constant_term());
    for term in e.terms() {
        let atom = match &term.atom {
            Atom::Var(v) => Expr::var(*v),
            Atom::FloorDiv(x, c) => canonical(x)?.checked_floor_div(*c).ok()?,
            Atom::Mod(x, c) => remainder(&canonical(x)?, *c)?,
        };
        sum = sum.checked_add_scaled(&atom, term.coefficient).ok()?;
    }
    Some(sum)
}

fn remainder(x: &Expr, c: i64) -> Option<Expr> {
    let own = reduced(x, c)?;
    let turned = reduced(&own.checked_neg().ok()?.checked_add_constant(-1).ok()?, c)?;
    if own <= turned {
        return own.checked_modulo(c).ok();
    }
    Expr::constant(c - 1).checked_sub(&turned.checked_modulo(c).ok()?).ok()
}

/// The sum with coefficients from `-c / 2` to `c / 2` and a constant from 0 to `c - 1`.
fn reduced(x: &Expr, c: i64) -> Option<Expr> {
    let terms = x.terms().iter().cloned().map(|mut term| {
        let residue = term.coefficient.rem_euclid(c);
        term.coefficient = if residue > c / 2 { residue - c } else { residue };
        term
    });
    Expr::sum(x.constant_term().rem_euclid(c), terms.filter(|t| t.coefficient != 0)).ok()
}
