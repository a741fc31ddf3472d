//! Equalities that determine a variable.

use weft_affine::{Atom, Constraint, Expr, Interval, Term};

use crate::IndexingMap;

/// A domain with as many points, in which a variable that an equality `a*v + rest = k` determines is fixed: what was said of
/// it is said of `(k - rest) / a`. `Some(None)` where there is no such point; nothing where no equality does it.
pub(super) fn eliminated(domain: &IndexingMap) -> Option<Option<IndexingMap>> {
    let mut candidates: Vec<(u64, usize, Term)> = Vec::new();
    for (i, constraint) in domain.constraints.iter().enumerate() {
        for term in constraint.expr.terms().iter().filter(|_| constraint.bounds.as_point().is_some()) {
            if let Atom::Var(v) = term.atom
                && !constraint.expr.terms().iter().filter_map(|t| t.atom.argument()).any(|e| e.variables().contains(&v))
            {
                candidates.push((term.coefficient.unsigned_abs(), i, term.clone()));
            }
        }
    }
    // Factors of one leave no remainder to speak of.
    candidates.sort_by_key(|(factor, i, _)| (*factor, *i));
    candidates.iter().find_map(|(_, i, term)| without(domain, *i, term))
}

fn without(domain: &IndexingMap, equality: usize, term: &Term) -> Option<Option<IndexingMap>> {
    let (Atom::Var(v), a) = (&term.atom, term.coefficient) else { return None };
    let Constraint { expr, bounds } = domain.constraints.get(equality)?;
    let own = Expr::sum(0, [term.clone()]).ok()?;
    // a*v = k - rest
    let rest = expr.checked_sub(&own).ok()?;
    let multiple = Expr::constant(bounds.as_point()?).checked_sub(&rest).ok()?;
    let value = multiple.checked_floor_div(a).ok()?;
    let known = domain.variable(*v)?.bounds;
    let mut fewer = domain.clone();
    fewer.constraints.clear();
    if let Some(fixed) = fewer.bounds_mut(*v) {
        *fixed = Interval::point(0);
    }
    for (_, constraint) in domain.constraints.iter().enumerate().filter(|(i, _)| *i != equality) {
        let replaced = constraint.expr.substitute(|w| (w == *v).then(|| value.clone())).ok()?;
        fewer.constrain(replaced, constraint.bounds);
    }
    let magnitude = a.checked_abs()?;
    if magnitude > 1 {
        fewer.constrain(multiple.checked_modulo(magnitude).ok()?, Interval::point(0));
    }
    let ends = [known.lo, known.hi].map(|end| i128::from(a) * i128::from(end));
    let Some(within) = clamped(ends[0].min(ends[1]), ends[0].max(ends[1])) else { return Some(None) };
    fewer.constrain(multiple, within);
    Some(Some(fewer))
}

/// The `i64` between two numbers; nothing where there is none.
fn clamped(lo: i128, hi: i128) -> Option<Interval> {
    let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let lo = i64::try_from(lo.max(least)).ok()?;
    let hi = i64::try_from(hi.min(most)).ok()?;
    Some(Interval::new(lo, hi))
}
