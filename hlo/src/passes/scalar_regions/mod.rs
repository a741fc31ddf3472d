//! Computations of scalars that hold arrays, as code of scalars.

mod expansion;
mod order;

use super::dead_code::{reachable, without_unreachable};
use super::pass::{Change, Pass, Rewritten};
use super::region_constants::applied;
use crate::diagnostic::Diagnostics;
use crate::ir::{ArenaId, Computation, ComputationId, Instruction, Module, Op, Shape};
use expansion::Expansion;

/// Writes computations that operations apply to elements, and that hold arrays, out as code of scalars, an instruction for each element of the arrays. Results are the same bit for bit, where
/// sorts in them have comparators that are strict weak orders; else a sort's result is some permutation.
///
/// Which element of an operand one of the result is, its indexing map tells; where that depends on values, the elements that it may be are chosen from. A sort is a network of neighbors that
/// are exchanged, a scatter a choice for each element that an update may be for, update by update.
///
/// Computations that would have more than [`ScalarRegions::MOST`] instructions stay as they are, and so do those that need another operation than elementwise ones, constants, `iota`, `call`, `map`, `reduce`, `sort`, `scatter`, `gather`,
/// `pad`, dynamic slices and updates, and those that only move elements: loops and dots, say.
pub struct ScalarRegions;

impl ScalarRegions {
    /// Instructions of a computation that is written out, at most.
    pub const MOST: usize = 8192;
}

impl Pass for ScalarRegions {
    fn name(&self) -> &'static str {
        "expand-scalar-regions"
    }

    fn about(&self) -> &'static str {
        "writes arrays in computations of elements out as scalars"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(expand_scalar_regions(module, &|_| true))
    }
}

/// As [`ScalarRegions`], but only comparators of sorts, and the computations for which `is_meant` holds.
pub fn expand_scalar_regions(module: &Module, is_meant: &dyn Fn(ComputationId) -> bool) -> Rewritten {
    let names = applied(module);
    let comparators = comparators(module);
    let with_arrays = with_arrays(module);
    let mut changed = module.clone();
    let mut changes = Vec::new();
    for (id, computation) in module.computations.iter() {
        let is_applied = names.contains(&computation.name.as_str());
        if !is_applied || !with_arrays[id.index()] || !is_of_scalars(computation) {
            continue;
        }
        if !comparators[id.index()] && !is_meant(id) {
            continue;
        }
        let Some(written) = Expansion::of(module, id) else { continue };
        changed.computations[id] = written;
        let rule = "arrays of few elements are scalars where elements are computed";
        changes.push(Change { rule, place: computation.name.clone() });
    }
    if changes.is_empty() {
        return Rewritten { module: changed, changes };
    }
    let reached = reachable(&changed);
    Rewritten { module: without_unreachable(&changed, &reached), changes }
}

/// For each computation whether a sort compares with it.
fn comparators(module: &Module) -> Vec<bool> {
    let mut found = vec![false; module.computations.len()];
    for instruction in module.computations.values().flat_map(|computation| computation.instructions.values()) {
        if let Op::Sort { to_apply, .. } = instruction.op {
            found[to_apply.index()] = true;
        }
    }
    found
}

fn is_scalar(shape: &Shape) -> bool {
    shape.as_array().is_some_and(|array| array.rank() == 0)
}

/// Whether a computation takes scalars, and yields one or several.
fn is_of_scalars(computation: &Computation) -> bool {
    let mut parameters = computation.instructions.values().filter(|it| matches!(it.op, Op::Parameter { .. }));
    let result = computation.result_shape();
    let yields = match result.as_tuple() {
        Some(elements) => elements.iter().all(is_scalar),
        None => is_scalar(result),
    };
    yields && parameters.all(|parameter| is_scalar(&parameter.shape))
}

/// For each computation whether it holds an array, or calls one that does, at whatever depth.
fn with_arrays(module: &Module) -> Vec<bool> {
    let mut found: Vec<bool> = Vec::with_capacity(module.computations.len());
    // Callees stand before callers.
    for computation in module.computations.values() {
        let holds = |it: &Instruction| {
            let of_callee = || it.op.called_computations().iter().any(|callee| found[callee.index()]);
            it.shape.leaves().into_iter().any(|leaf| !is_scalar(leaf)) || of_callee()
        };
        let holds = computation.instructions.values().any(holds);
        found.push(holds);
    }
    found
}
