//! A map of threads, rewritten over subgroups and lanes.

use std::collections::BTreeSet;

use weft_affine::{Expr, Interval, Var};

use super::{Launch, MemoryModel};
use crate::pieces::{Lanes, Program};
use crate::{IndexingMap, Unknown, Variable};

/// Elements that a subgroup may read at once.
const MAX_REQUEST: u128 = 4096;

/// The map with the position of a thread as `subgroup_size · subgroup + lane`.
#[derive(Clone, Debug)]
pub(crate) struct Subgroups {
    pub(crate) map: IndexingMap,
    lane: Var,
    lane_values: Interval,
    vector: Option<(Var, Interval)>,
}

/// Adds a range variable to a map.
fn push_range(map: &mut IndexingMap, bounds: Interval) -> Result<Var, Unknown> {
    let number = u32::try_from(map.ranges.len()).map_err(|_| Unknown::Overflow)?;
    map.ranges.push(Variable::new(bounds));
    Ok(Var::Range(number))
}

/// A thread variable: what stands for it, and its bounds.
struct Thread {
    variable: Var,
    value: Expr,
    bounds: Interval,
}

impl Subgroups {
    /// Rewrites and simplifies the map for a launch of blocks of these extents. Thread variables stay with one value, and count
    /// for nothing.
    ///
    /// # Errors
    /// When a thread index may be negative or lie beyond the block, and on overflow.
    pub(crate) fn new(
        map: &IndexingMap,
        launch: &Launch,
        block: &[i64],
        model: &MemoryModel,
    ) -> Result<Subgroups, Unknown> {
        let mut map = map.clone();
        let vector = launch.vector.and_then(|v| Some((v, map.variable(v)?.bounds)));
        let size = i64::from(model.subgroup_size);
        let block: Vec<(Var, i64)> = launch.threads.iter().copied().zip(block.iter().copied()).collect();
        let number = number_of_threads(&map, &block)?;
        let lane_values = Interval::new(0, size - 1);
        let group = push_range(&mut map, Interval::new(0, (number - 1).div_euclid(size)))?;
        let lane = push_range(&mut map, lane_values)?;
        let overflow = |_| Unknown::Overflow;
        let position = Expr::var(lane).checked_add_scaled(&Expr::var(group), size).map_err(overflow)?;
        let threads = threads(&map, &block, &position)?;
        let of = |v: Var| threads.iter().find(|thread| thread.variable == v).map(|thread| thread.value.clone());
        let constraints = std::mem::take(&mut map.constraints);
        for e in map.results.iter_mut().chain(map.runtime.iter_mut().flat_map(|v| &mut v.access)) {
            *e = e.substitute(of).map_err(overflow)?;
        }
        for c in constraints {
            map.constrain(c.expr.substitute(of).map_err(overflow)?, c.bounds);
        }
        for Thread { variable, value, bounds } in &threads {
            if let Some(known) = map.bounds_mut(*variable) {
                *known = Interval::point(0);
            }
            map.constrain(value.clone(), *bounds);
        }
        map.constrain(position, Interval::of_extent(number));
        map.simplify_keeping_runtime_bounds();
        // Runtime variables that nothing depends on are no reason to count a request more than once.
        let used: BTreeSet<Var> =
            map.results.iter().chain(map.constraints.iter().map(|c| &c.expr)).flat_map(Expr::variables).collect();
        for (i, variable) in (0..).zip(&mut map.runtime) {
            if !used.contains(&Var::Runtime(i)) {
                variable.bounds = Interval::point(variable.bounds.lo);
            }
        }
        Ok(Subgroups { map, lane, lane_values, vector })
    }

    /// What one subgroup reads together: every lane, and for each lane every value of the vector variable.
    pub(crate) fn lanes(&self, program: &Program) -> Result<Lanes, Unknown> {
        let vector = self.vector.map_or(Interval::point(0), |(_, bounds)| bounds);
        if self.lane_values.size().saturating_mul(vector.size()) > MAX_REQUEST {
            return Err(Unknown::LargeRequest);
        }
        let each = || {
            (self.lane_values.lo..=self.lane_values.hi).flat_map(|lane| (vector.lo..=vector.hi).map(move |v| (lane, v)))
        };
        let mut values = Vec::new();
        values.extend(program.position(self.lane).map(|i| (i, each().map(|(lane, _)| lane).collect())));
        if let Some((v, _)) = self.vector {
            values.extend(program.position(v).map(|i| (i, each().map(|(_, v)| v).collect())));
        }
        Ok(Lanes { values })
    }

    /// Values of the vector variable.
    pub(crate) fn vector_extent(&self) -> usize {
        let size = self.vector.map_or(1, |(_, bounds)| bounds.size());
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    /// Whether the map depends on runtime variables; an error where the lanes of a subgroup read different values of one.
    pub(crate) fn depends_on_runtime(&self) -> Result<bool, Unknown> {
        let mut per_lane: Vec<bool> = Vec::with_capacity(self.map.runtime.len());
        let mut depends = false;
        for variable in &self.map.runtime {
            let varies = variable.access.iter().flat_map(Expr::variables).any(|v| match v {
                Var::Runtime(j) => per_lane.get(j as usize).copied().unwrap_or(false),
                other => other == self.lane || self.vector.is_some_and(|(vector, _)| vector == other),
            });
            per_lane.push(varies);
            // Those that nothing depends on have one value.
            if variable.bounds.size() > 1 {
                depends = true;
                if varies {
                    return Err(Unknown::RuntimePerLane);
                }
            }
        }
        Ok(depends)
    }
}

fn bounds_of(map: &IndexingMap, thread: Var) -> Interval {
    map.variable(thread).map_or(Interval::EMPTY, |variable| variable.bounds)
}

/// Threads of a block, those that the map does not mention included.
fn number_of_threads(map: &IndexingMap, block: &[(Var, i64)]) -> Result<i64, Unknown> {
    block.iter().try_fold(1i64, |number, (v, extent)| {
        let bounds = bounds_of(map, *v);
        if bounds.lo < 0 {
            return Err(Unknown::NegativeThread);
        }
        if bounds.hi.checked_add(1).ok_or(Unknown::Overflow)? > *extent {
            return Err(Unknown::BeyondBlock);
        }
        number.checked_mul(*extent).ok_or(Unknown::Overflow)
    })
}

/// Each thread variable as a digit of the position.
fn threads(map: &IndexingMap, block: &[(Var, i64)], position: &Expr) -> Result<Vec<Thread>, Unknown> {
    let mut below = 1;
    let mut found = Vec::with_capacity(block.len());
    for (i, (variable, extent)) in block.iter().copied().enumerate() {
        let quotient = position.checked_floor_div(below);
        // The slowest index needs no remainder, since the position is bounded.
        let is_last = i + 1 == block.len();
        let value = if is_last { quotient } else { quotient.and_then(|q| q.checked_modulo(extent)) };
        found.push(Thread { variable, value: value.map_err(|_| Unknown::Overflow)?, bounds: bounds_of(map, variable) });
        // The product of all extents is a number of threads, so no part of it overflows.
        below = below.saturating_mul(extent);
    }
    Ok(found)
}
