//! The points of a domain that decide about an expression.

use super::period::{Fraction, Period, period};
use super::program::{LANES, Lanes, Program};
use crate::{Constraint, Expr, Interval, Ranges, Var};

/// An expression, the constraints that bear on it, and the points of their variables that have to be tried.
pub(super) struct Region {
    /// The first root is the expression, the others are the constraints.
    program: Program,
    facts: Vec<Interval>,
    /// Bounds of the variables of the program; where [`Region::growth`] says so, one period of them.
    bounds: Vec<Interval>,
    growth: Vec<Option<Fraction>>,
}

/// Steps of one program.
const MAX_STEPS: usize = 256;
/// Deeper expressions are hardly ever small enough, and walking them whole takes time.
const MAX_DEPTH: u32 = 64;

impl Region {
    /// The region for `e`, with one period of the variables whose growth `repeats` accepts; none where it is unbounded, or its
    /// numbers are too large.
    pub(super) fn of(
        e: &Expr,
        ranges: &Ranges,
        constraints: &[Constraint],
        repeats: fn(Fraction) -> bool,
    ) -> Option<Region> {
        if e.depth() > MAX_DEPTH {
            return None;
        }
        let constraints = bearing(e, constraints);
        if constraints.iter().any(|c| c.expr.depth() > MAX_DEPTH) {
            return None;
        }
        let mut program = Program::of(std::iter::once(e).chain(constraints.iter().map(|c| &c.expr)), MAX_STEPS)?;
        let mut bounds = Vec::new();
        let mut growth = Vec::new();
        for (slot, v) in program.variables.iter().enumerate() {
            let whole = ranges.get(*v);
            let is_constrained = constraints.iter().any(|c| c.expr.find_variable(&mut |w| w == *v));
            let period = if is_constrained { None } else { period(&program, slot) };
            let is_shorter = |period: &Period| whole.size() > u128::from(period.length.unsigned_abs());
            match period.filter(|period| is_shorter(period) && repeats(period.growth)) {
                Some(period) => {
                    // Any period is as good as any other, so one around zero where the bounds are none.
                    let room = whole.hi.checked_sub(period.length - 1)?;
                    let first = if whole.lo > 0 { whole.lo } else { room.min(0).max(whole.lo) };
                    bounds.push(Interval::new(first, first.checked_add(period.length - 1)?));
                    growth.push(Some(period.growth));
                }
                None => {
                    bounds.push(whole);
                    growth.push(None);
                }
            }
        }
        let facts = constraints.iter().map(|c| c.bounds).collect();
        let is_possible = bounds.iter().all(|b| !b.is_empty()) && program.prepare(&bounds);
        is_possible.then_some(Region { program, facts, bounds, growth })
    }

    /// The variables, in order.
    pub(super) fn variables(&self) -> &[Var] {
        &self.program.variables
    }

    /// The bounds within which values are tried, in the order of the variables.
    pub(super) fn bounds(&self) -> &[Interval] {
        &self.bounds
    }

    /// By how much the expression grows for each unit of the variable beyond the bounds; none where the bounds are all.
    pub(super) fn growth(&self, variable: usize) -> Option<Fraction> {
        self.growth.get(variable).copied().flatten()
    }

    pub(super) fn has_facts(&self) -> bool {
        !self.facts.is_empty()
    }

    /// The work of trying all points: points times steps; saturates.
    pub(super) fn work(&self) -> u128 {
        let steps = self.program.steps.len() as u128 + 1;
        self.bounds.iter().fold(steps, |work, b| work.saturating_mul(b.size()))
    }

    /// Computes the expression at the first `count` of the points, given as a row of values for each variable, and calls `check`
    /// with each that lies in the domain. False as soon as `check` says so. All lanes must be within the bounds.
    pub(super) fn try_points(
        &self,
        mut rows: Vec<Lanes>,
        count: usize,
        mut check: impl FnMut(&[i64], i64) -> bool,
    ) -> bool {
        self.program.run(&mut rows);
        let mut point = vec![0; self.bounds.len()];
        (0..count.min(LANES)).all(|lane| {
            for (value, row) in point.iter_mut().zip(&rows) {
                *value = row[lane];
            }
            !self.is_inside(&rows, lane) || self.root(&rows, 0).is_none_or(|root| check(&point, root[lane]))
        })
    }

    /// Whether `check` holds at points all over the region: where it does, it mostly holds everywhere.
    pub(super) fn try_some(&self, check: impl FnMut(&[i64], i64) -> bool) -> bool {
        let mut state: u64 = 0x2545_f491_4f6c_dd1d;
        let mut row = |b: &Interval| {
            let size = u64::try_from(b.size()).unwrap_or(u64::MAX);
            std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // The upper half of the state is the random one; sizes beyond it are not tried.
                b.lo.saturating_add(i64::try_from((state >> 32) % size.max(1)).unwrap_or(0))
            })
        };
        self.try_points(self.bounds.iter().map(&mut row).collect(), LANES, check)
    }

    /// Computes the expression at every point within the bounds, and calls `check` with each that lies in the domain. False as
    /// soon as `check` says so.
    pub(super) fn try_all(&self, mut check: impl FnMut(&[i64], i64) -> bool) -> bool {
        let count = self.bounds.len();
        let mut point: Vec<i64> = self.bounds.iter().map(|b| b.lo).collect();
        let mut values: Vec<Lanes> = Vec::new();
        loop {
            values.clear();
            values.extend(point.iter().map(|value| [*value; LANES]));
            let mut lanes = 1;
            if let (Some(last), Some(row)) = (self.bounds.last(), values.last_mut()) {
                let first = point[count - 1];
                for (offset, value) in (0..).zip(row.iter_mut()) {
                    *value = first.saturating_add(offset).min(last.hi);
                }
                lanes = usize::try_from(last.hi.saturating_sub(first)).unwrap_or(LANES).min(LANES - 1) + 1;
            }
            self.program.run(&mut values);
            for lane in 0..lanes {
                if !self.is_inside(&values, lane) {
                    continue;
                }
                if let (Some(value), Some(row)) = (point.last_mut(), values.get(count.wrapping_sub(1))) {
                    *value = row[lane];
                }
                if let Some(root) = self.root(&values, 0)
                    && !check(&point, root[lane])
                {
                    return false;
                }
            }
            if let (Some(value), Some(row)) = (point.last_mut(), values.get(count.wrapping_sub(1))) {
                *value = row[lanes - 1];
            }
            let Some(i) = (0..count).rev().find(|i| point[*i] < self.bounds[*i].hi) else { return true };
            point[i] += 1;
            for (value, b) in point.iter_mut().zip(&self.bounds).skip(i + 1) {
                *value = b.lo;
            }
        }
    }

    fn root<'a>(&self, values: &'a [Lanes], i: usize) -> Option<&'a Lanes> {
        values.get(*self.program.roots.get(i)?)
    }

    fn is_inside(&self, values: &[Lanes], lane: usize) -> bool {
        let mut facts = (1..).zip(&self.facts);
        facts.all(|(i, bounds)| self.root(values, i).is_some_and(|value| bounds.contains(value[lane])))
    }
}

/// The constraints that share variables with `e`, or with others that do.
fn bearing<'a>(e: &Expr, constraints: &'a [Constraint]) -> Vec<&'a Constraint> {
    if constraints.is_empty() {
        return Vec::new();
    }
    let mut reached = e.variables();
    let mut waiting: Vec<&Constraint> = constraints.iter().collect();
    let mut found = Vec::new();
    loop {
        let before = found.len();
        waiting.retain(|c| {
            let touches = c.expr.find_variable(&mut |v| reached.contains(&v));
            if touches {
                reached.extend(c.expr.variables());
                found.push(*c);
            }
            !touches
        });
        if found.len() == before {
            return found;
        }
    }
}

/// True when the constraint was found to hold at every point of the domain of the others, by trying points whose number times
/// that of the steps of its program is at most `work`.
pub(crate) fn is_implied(constraint: &Constraint, ranges: &Ranges, others: &[Constraint], work: u128) -> bool {
    let Some(region) = Region::of(&constraint.expr, ranges, others, Fraction::is_zero) else { return false };
    let holds = |_: &[i64], value: i64| constraint.bounds.contains(value);
    region.work() <= work && region.try_some(holds) && region.try_all(holds)
}
