//! One domain in other spellings: bounds as constraints, constraints that say nothing new, simplified or not.

use crate::parts::changed;
use weft_indexing::{Constraint, Expr, IndexingMap, Interval, Var, Variable};

use crate::support::random::Random;

/// Bounds beyond this are left as they are.
const FAR: i64 = 1 << 20;

fn widen(variable: &mut Variable, bounds: Interval) {
    *variable = variable.clone().with_bounds(bounds);
}

/// A map with the same points and the same results at them.
pub(crate) fn respelled(random: &mut Random, map: &IndexingMap) -> IndexingMap {
    let mut other = map.clone();
    if random.chance(30) {
        other.simplify();
    }
    let dims = (0..).map(Var::Dim).take(map.dims().len());
    let variables: Vec<Var> = dims.chain((0..).map(Var::Range).take(map.ranges().len())).collect();
    let given = other.variable_ranges();
    let mut other = changed(&other, |parts| {
        for c in &mut parts.constraints {
            if random.chance(30) && is_near(c.bounds) {
                *c = times(random, &c.expr, c.bounds);
            }
        }
        for v in &variables {
            let bounds = given.get(*v);
            if !bounds.is_empty() && is_near(bounds) && random.chance(50) {
                let wider = Interval::new(bounds.lo - random.between(0, 3), bounds.hi + random.between(0, 40));
                match v {
                    Var::Dim(i) => widen(&mut parts.dims[*i as usize], wider),
                    Var::Range(i) => widen(&mut parts.ranges[*i as usize], wider),
                    Var::Runtime(_) => {}
                }
                parts.constraints.push(as_constraint(random, *v, bounds));
            }
        }
        for _ in 0..random.below(3) {
            parts.constraints.extend(implied(random, map, &variables));
        }
        random.shuffle(&mut parts.constraints);
    });
    if random.chance(20) {
        other.simplify();
    }
    other
}

fn is_near(bounds: Interval) -> bool {
    bounds.lo >= -FAR && bounds.hi <= FAR
}

/// `e in [lo, hi]`, by a multiple where its numbers fit.
fn times(random: &mut Random, e: &Expr, bounds: Interval) -> Constraint {
    let k = random.pick(&[1, 2, 3, -1]);
    let Ok(multiple) = e.checked_mul(k) else { return Constraint::new(e.clone(), bounds) };
    match k {
        -1 => Constraint::new(multiple, Interval::new(-bounds.hi, -bounds.lo)),
        k => Constraint::new(multiple, Interval::new(bounds.lo * k, bounds.hi * k + random.between(0, k - 1))),
    }
}

/// The bounds of a variable as a constraint.
fn as_constraint(random: &mut Random, v: Var, bounds: Interval) -> Constraint {
    let e = Expr::var(v);
    if random.chance(40) {
        return Constraint::new((e - bounds.lo).floor_div(bounds.hi - bounds.lo + 1), Interval::point(0));
    }
    times(random, &e, bounds)
}

/// A constraint that follows from bounds.
fn implied(random: &mut Random, map: &IndexingMap, variables: &[Var]) -> Option<Constraint> {
    if variables.is_empty() {
        return None;
    }
    let ranges = map.variable_ranges();
    let [u, v] = [random.pick(variables), random.pick(variables)];
    let [a, b] = [u, v].map(|v| ranges.get(v));
    if [a, b].iter().any(|bounds| bounds.is_empty() || !is_near(*bounds)) {
        return None;
    }
    let e = Expr::var(u) * 2 - Expr::var(v);
    let slack = random.between(0, 2);
    let m = random.between(2, 9);
    Some(match random.below(3) {
        0 => Constraint::new(e, Interval::new(a.lo * 2 - b.hi - slack, a.hi * 2 - b.lo)),
        1 => Constraint::new(e.modulo(m), Interval::new(-slack, m - 1)),
        _ => Constraint::new(Expr::var(u).floor_div(m), Interval::new(a.lo.div_euclid(m), a.hi.div_euclid(m) + slack)),
    })
}
