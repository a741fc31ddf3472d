//! From fractions to the cheapest expression: division or remainder, either sign, coefficients shifted by the divisor.

use weft_affine::{Expr, Term};

/// Forms equal to `factor · (x // m)`, some such that they cancel with terms of `linear`.
pub(super) fn variants(factor: i64, x: &Expr, m: i64, linear: &Expr) -> Vec<Expr> {
    let mut forms = Vec::new();
    // x // m = -((-x - 1) // m) - 1.
    for (y, sign, constant) in [(x.clone(), factor, 0), (-x - 1, -factor, -factor)] {
        for shifted in shifts(&y, m, sign, linear) {
            forms.extend(division(sign, &y, &shifted, m).and_then(|e| e.checked_add_constant(constant).ok()));
            forms.extend(remainder(sign, &y, &shifted, m).and_then(|e| e.checked_add_constant(constant).ok()));
        }
    }
    forms
}

/// `factor · (y // m)` where `shifted - y` is a multiple of `m`: the quotients differ by that multiple.
fn division(factor: i64, y: &Expr, shifted: &Expr, m: i64) -> Option<Expr> {
    let difference = y.checked_sub(shifted).ok()?;
    let terms = difference.terms().iter().map(|t| Term { coefficient: t.coefficient / m, ..t.clone() });
    let multiple = Expr::sum(difference.constant_term() / m, terms).ok()?;
    shifted.floor_div(m).checked_add(&multiple).ok()?.checked_mul(factor).ok()
}

/// The same as `(factor / m) · (y - shifted mod m)`, where `m` divides the factor.
fn remainder(factor: i64, y: &Expr, shifted: &Expr, m: i64) -> Option<Expr> {
    if factor % m != 0 {
        return None;
    }
    y.checked_sub(&shifted.modulo(m)).ok()?.checked_mul(factor / m).ok()
}

/// The sum with each coefficient and the constant at the least residue modulo `m`, or `m` below it, or so that the term of
/// `linear` moves into a division with this factor.
fn shifts(x: &Expr, m: i64, factor: i64, linear: &Expr) -> Vec<Expr> {
    let constant = x.constant_term().rem_euclid(m);
    let mut forms = vec![Expr::constant(constant), Expr::constant(constant - m)];
    if constant == 0 {
        forms.pop();
    }
    for term in x.terms() {
        let residue = term.coefficient.rem_euclid(m);
        let mut choices = vec![residue, residue - m];
        if residue == 0 || x.terms().len() > 5 {
            choices.pop();
        }
        let outer = linear.terms().iter().find(|t| t.atom == term.atom).map_or(0, |t| t.coefficient);
        if outer != 0 && outer % factor == 0 {
            choices.extend((outer / factor).checked_mul(m).and_then(|k| k.checked_add(term.coefficient)));
        }
        let grown = forms.iter().flat_map(|form| {
            choices.iter().filter_map(|k| form.checked_add(&Expr::sum(0, scaled(term, *k)).ok()?).ok())
        });
        forms = grown.collect();
    }
    forms
}

fn scaled(term: &Term, coefficient: i64) -> Option<Term> {
    (coefficient != 0).then(|| Term { coefficient, ..term.clone() })
}

/// The cheapest sum of `linear` and one form of each list, found by improving one choice at a time.
pub(super) fn cheapest(linear: &Expr, lists: &[Vec<Expr>]) -> Option<Expr> {
    let mut chosen: Vec<&Expr> = lists.iter().map(|list| list.first()).collect::<Option<_>>()?;
    let mut best = total(linear, &chosen)?;
    for _ in 0..3 {
        let before = best.cost();
        for (i, list) in lists.iter().enumerate() {
            for form in list {
                let mut tried = chosen.clone();
                tried[i] = form;
                if let Some(sum) = total(linear, &tried)
                    && (sum.cost(), &sum) < (best.cost(), &best)
                {
                    (best, chosen) = (sum, tried);
                }
            }
        }
        if best.cost() == before {
            break;
        }
    }
    Some(best)
}

fn total(linear: &Expr, parts: &[&Expr]) -> Option<Expr> {
    parts.iter().try_fold(linear.clone(), |sum, part| sum.checked_add(part)).ok()
}
