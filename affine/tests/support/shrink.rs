//! Shrinking of failing cases: one part after another is dropped or reduced while the case keeps failing.

use weft_affine::{Atom, Constraint, Expr, Interval, Term};

use super::case::Case;

/// Trials after which the case is small enough.
const MAX_TRIALS: usize = 4000;

/// The smallest case found that still fails, and how.
pub(crate) fn shrink(
    mut case: Case,
    mut failure: String,
    check: impl Fn(&Case) -> Result<(), String>,
) -> (Case, String) {
    let mut trials = 0;
    'smaller: while trials < MAX_TRIALS {
        for candidate in candidates(&case) {
            trials += 1;
            if let Err(message) = check(&candidate) {
                (case, failure) = (candidate, message);
                continue 'smaller;
            }
        }
        break;
    }
    (case, failure)
}

fn candidates(case: &Case) -> Vec<Case> {
    let mut list = Vec::new();
    let mut offer = |change: &dyn Fn(&mut Case)| {
        let mut other = case.clone();
        change(&mut other);
        list.push(other);
    };
    for i in 1..case.exprs.len() {
        offer(&|c| drop(c.exprs.remove(i)));
    }
    for i in 0..case.constraints.len() {
        offer(&|c| drop(c.constraints.remove(i)));
    }
    for i in 0..case.exprs.len() {
        for smaller in reduced(&case.exprs[i]) {
            offer(&|c| c.exprs[i] = smaller.clone());
        }
    }
    for (i, Constraint { expr, bounds }) in case.constraints.iter().enumerate() {
        for smaller in reduced(expr) {
            offer(&|c| c.constraints[i].expr = smaller.clone());
        }
        for narrower in narrowed(*bounds) {
            offer(&|c| c.constraints[i].bounds = narrower);
        }
    }
    for (i, (_, bounds)) in case.variables.iter().enumerate() {
        for narrower in narrowed(*bounds) {
            offer(&|c| {
                c.variables[i].1 = narrower;
                c.anchor[i] = c.anchor[i].clamp(narrower.lo, narrower.hi);
            });
        }
    }
    list
}

/// Narrower intervals, nearer to zero, never empty unless the interval is.
fn narrowed(b: Interval) -> Vec<Interval> {
    if b.is_empty() {
        return Vec::new();
    }
    let middle = ((i128::from(b.lo) + i128::from(b.hi)) / 2) as i64;
    let all =
        [(0, 0), (0, b.hi), (b.lo, middle), (middle, b.hi), (b.lo, b.hi.wrapping_sub(1)), (b.lo.wrapping_add(1), b.hi)];
    let inside = |i: &Interval| !i.is_empty() && b.contains_interval(*i) && *i != b;
    all.into_iter().map(|(lo, hi)| Interval::new(lo, hi)).filter(inside).collect()
}

/// Simpler expressions made of the parts of one.
fn reduced(e: &Expr) -> Vec<Expr> {
    let mut list = Vec::new();
    let k = e.constant_term();
    let terms = e.terms().to_vec();
    if k != 0 {
        list.extend([0, k / 2].map(|k| Expr::sum(k, terms.clone())));
    }
    for (i, term) in terms.iter().enumerate() {
        let rest: Vec<Term> = terms.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, t)| t.clone()).collect();
        list.push(Expr::sum(k, rest.clone()));
        let mut offer = |coefficient: i64, atom: Atom| {
            list.push(Expr::sum(k, rest.iter().cloned().chain([Term { coefficient, atom }])));
        };
        for smaller in [1, -1, term.coefficient / 2, term.coefficient - term.coefficient.signum()] {
            if smaller != 0 && smaller.unsigned_abs() < term.coefficient.unsigned_abs() {
                offer(smaller, term.atom.clone());
            }
        }
        let (x, c, rebuilt): (&Expr, i64, fn(Expr, i64) -> Atom) = match &term.atom {
            Atom::Var(_) => continue,
            Atom::FloorDiv(x, c) => (x, *c, Atom::FloorDiv),
            Atom::Mod(x, c) => (x, *c, Atom::Mod),
        };
        for smaller in [2, 3, c / 2, c - 1] {
            if (2..c).contains(&smaller) {
                offer(term.coefficient, rebuilt(x.clone(), smaller));
            }
        }
        for inner in reduced(x) {
            offer(term.coefficient, rebuilt(inner, c));
        }
        list.push(Expr::sum(k, rest).and_then(|rest| rest.checked_add(&x.checked_mul(term.coefficient)?)));
    }
    list.into_iter().flatten().filter(|smaller| smaller != e).collect()
}
