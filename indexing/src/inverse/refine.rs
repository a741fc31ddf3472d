//! Changes of variables: a variable split into digits, or two variables joined as the digits of one.
//!
//! `d0 * 3 - (d0 floordiv 8) * 25` is `q * -1 + r * 3` for `d0 = q * 8 + r`. Where that makes a map cheaper, the equations
//! are solved for the new variables, which determine the old ones.

use std::collections::BTreeSet;

use weft_affine::{Atom, Expr, Interval, Var};

use crate::rational::common_divisor;
use crate::{IndexingMap, Variable};

/// Changes of variables, one after another. Each makes the map cheaper.
const MAX_CHANGES: usize = 24;

/// A map over new dimensions, and what those say of the variables of the map it was made from.
pub(super) struct Refined {
    pub(super) map: IndexingMap,
    pub(super) dims: Vec<Expr>,
    pub(super) ranges: Vec<Expr>,
}

impl Refined {
    /// The cheapest form that is found by one change after another; nothing where none makes the map cheaper.
    pub(super) fn of(map: &IndexingMap) -> Option<Refined> {
        let mut current = Refined::all_dims(map)?;
        let mut changed = false;
        for _ in 0..MAX_CHANGES {
            let cost = current.cost();
            let found = current.changes().filter_map(|change| current.changed(&change));
            let Some(best) = found.map(|r| (r.cost(), r)).filter(|(c, _)| *c < cost).min_by_key(|(c, _)| *c) else {
                break;
            };
            current = best.1;
            changed = true;
        }
        changed.then_some(current)
    }

    /// The map with its range variables as further dimensions.
    fn all_dims(map: &IndexingMap) -> Option<Refined> {
        let first = u32::try_from(map.dims.len()).ok()?;
        let ranges: Vec<Expr> = (first..).map(Expr::dim).take(map.ranges.len()).collect();
        let mut all = map.clone();
        all.dims.append(&mut all.ranges);
        let turned = |v: Var| match v {
            Var::Range(i) => ranges.get(i as usize).cloned(),
            _ => None,
        };
        for e in all.results.iter_mut().chain(all.constraints.iter_mut().map(|c| &mut c.expr)) {
            *e = e.substitute(turned).ok()?;
        }
        // What element a runtime value is says nothing about the results.
        all.runtime.iter_mut().for_each(|v| v.access.clear());
        Some(Refined { map: all, dims: (0..first).map(Expr::dim).collect(), ranges })
    }

    fn cost(&self) -> u64 {
        let constraints = self.map.constraints.iter().map(|c| c.expr.cost());
        self.map.results.iter().map(Expr::cost).chain(constraints).fold(0, u64::saturating_add)
    }

    /// The changes that may help, in a fixed order.
    fn changes(&self) -> impl Iterator<Item = Change> + '_ {
        let splits = self.divisors().into_iter().map(|(number, low)| Change::Split { number, low });
        let numbers = (0..).map(|i: u32| i).take(self.map.dims.len());
        let moving = |i: &u32| self.map.variable(Var::Dim(*i)).is_some_and(|v| v.bounds.size() > 1);
        let numbers: Vec<u32> = numbers.filter(moving).collect();
        let pairs: Vec<Change> = numbers
            .iter()
            .flat_map(|high| numbers.iter().map(|low| Change::Join { high: *high, low: *low }))
            .filter(|change| !matches!(change, Change::Join { high, low } if high == low))
            .collect();
        splits.chain(pairs)
    }

    /// The dimensions with periods that quotients and remainders have in them: `m / gcd(a, m)` for `a*v + k` divided by `m`.
    /// Only those that divide the extent, so that digits are independent.
    fn divisors(&self) -> BTreeSet<(u32, i64)> {
        let mut found = BTreeSet::new();
        let mut waiting: Vec<Expr> = self.map.results.clone();
        waiting.extend(self.map.constraints.iter().map(|c| c.expr.clone()));
        let mut seen = BTreeSet::new();
        while let Some(e) = waiting.pop() {
            if !seen.insert(e.structural_hash()) {
                continue;
            }
            for term in e.terms() {
                let (Atom::FloorDiv(x, m) | Atom::Mod(x, m)) = &term.atom else { continue };
                waiting.push(x.clone());
                for inner in x.terms() {
                    let Atom::Var(Var::Dim(i)) = inner.atom else { continue };
                    let Some(divisor) = common_divisor(inner.coefficient, *m) else { continue };
                    let low = m / divisor;
                    let extent = self.map.variable(Var::Dim(i)).and_then(|v| i64::try_from(v.bounds.size()).ok());
                    if low > 1 && extent.is_some_and(|n| n > low && n % low == 0) {
                        found.insert((i, low));
                    }
                }
            }
        }
        found
    }

    fn changed(&self, change: &Change) -> Option<Refined> {
        let mut dims = self.map.dims.clone();
        let extent = |i: u32| i64::try_from(self.map.variable(Var::Dim(i))?.bounds.size()).ok();
        let from = |i: u32| Some(self.map.variable(Var::Dim(i))?.bounds.lo);
        let new = Expr::dim(u32::try_from(dims.len()).ok()?);
        // The old variables in terms of the new ones.
        let replaced: Vec<(u32, Expr)> = match *change {
            Change::Split { number, low } => {
                dims.get_mut(number as usize)?.bounds = Interval::of_extent(extent(number)? / low);
                dims.push(Variable::new(Interval::of_extent(low)));
                let digits = Expr::dim(number).checked_mul(low).ok()?.checked_add(&new).ok()?;
                vec![(number, digits.checked_add_constant(from(number)?).ok()?)]
            }
            Change::Join { high, low } => {
                let n = extent(low)?;
                let whole = Interval::of_extent(extent(high)?.checked_mul(n)?);
                dims.push(Variable::new(whole));
                for old in [high, low] {
                    dims.get_mut(old as usize)?.bounds = Interval::point(0);
                }
                let quotient = new.checked_floor_div(n).ok()?.checked_add_constant(from(high)?).ok()?;
                let remainder = new.checked_modulo(n).ok()?.checked_add_constant(from(low)?).ok()?;
                vec![(high, quotient), (low, remainder)]
            }
        };
        let put = |e: &Expr| {
            e.substitute(|v| match v {
                Var::Dim(i) => replaced.iter().find(|(old, _)| *old == i).map(|(_, e)| e.clone()),
                _ => None,
            })
            .ok()
        };
        let all = |list: &[Expr]| list.iter().map(put).collect::<Option<Vec<Expr>>>();
        let mut map =
            IndexingMap::of_valid(dims, Vec::new(), self.map.runtime.clone(), all(&self.map.results)?, Vec::new());
        for constraint in &self.map.constraints {
            map.constrain(put(&constraint.expr)?, constraint.bounds);
        }
        map.simplify();
        Some(Refined { map, dims: all(&self.dims)?, ranges: all(&self.ranges)? })
    }
}

/// A change of variables.
enum Change {
    /// The dimension becomes its quotient by `low`, and the remainder a new dimension.
    Split { number: u32, low: i64 },
    /// A new dimension has one dimension for its quotient and another for its remainder; those are fixed at zero.
    Join { high: u32, low: u32 },
}
