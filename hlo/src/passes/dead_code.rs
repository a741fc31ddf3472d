//! Dead code elimination.

use super::pass::{Change, Pass, Rewritten};
use super::rebuild::retain;
use super::side_effects::{effects, has_effect, pinned};
use crate::diagnostic::Diagnostics;
use crate::ir::{Arena, ArenaId, Computation, ComputationId, InstrId, Module, Op};
use std::collections::BTreeSet;

/// Drops instructions whose values nothing reads, unless they have an effect or their order is part of the program, and
/// computations that nothing calls. Parameters stay.
pub struct DeadCode;

impl Pass for DeadCode {
    fn name(&self) -> &'static str {
        "dead-code"
    }

    fn about(&self) -> &'static str {
        "drops instructions and computations that nothing needs"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        let effects = effects(module);
        let mut changes = Vec::new();
        let mut live = module.clone();
        for (id, computation) in module.computations.iter() {
            let needed = needed(computation, &effects);
            if needed.len() == computation.instructions.len() {
                continue;
            }
            let dropped = computation.instructions.iter().filter(|(id, _)| !needed.contains(id));
            changes.extend(dropped.map(|(_, instruction)| Change {
                rule: "nothing reads it",
                place: format!("{}/{}", computation.name, instruction.name),
            }));
            live.computations[id] = retain(computation, &needed);
        }
        let reached = reachable(&live);
        let unused = live.computations.iter().filter(|(id, _)| !reached[id.index()]);
        let unused =
            unused.map(|(_, computation)| Change { rule: "nothing calls it", place: computation.name.clone() });
        changes.extend(unused);
        let module = if reached.iter().all(|&reached| reached) { live } else { without_unreachable(&live, &reached) };
        Ok(Rewritten { module, changes })
    }
}

/// The instructions that the root, an effect or the order of the program needs, and the parameters.
fn needed(computation: &Computation, effects: &[bool]) -> BTreeSet<InstrId> {
    let callee_has = |id: ComputationId| effects[id.index()];
    let mut needed = pinned(computation);
    needed.insert(computation.root);
    for (id, instruction) in computation.instructions.iter() {
        if matches!(instruction.op, Op::Parameter { .. }) || has_effect(instruction, &callee_has) {
            needed.insert(id);
        }
    }
    for (id, instruction) in computation.instructions.iter().rev() {
        if needed.contains(&id) {
            needed.extend(&instruction.operands);
        }
    }
    needed
}

/// Which instructions some of them need, these among them.
pub(super) fn needed_for(computation: &Computation, roots: &[InstrId]) -> Vec<bool> {
    let mut needed = vec![false; computation.instructions.len()];
    roots.iter().for_each(|root| needed[root.index()] = true);
    for (id, instruction) in computation.instructions.iter().rev() {
        if needed[id.index()] {
            instruction.operands.iter().for_each(|operand| needed[operand.index()] = true);
        }
    }
    needed
}

/// Which computations the entry reaches.
pub(super) fn reachable(module: &Module) -> Vec<bool> {
    let mut needed = vec![false; module.computations.len()];
    needed[module.entry.index()] = true;
    for (id, computation) in module.computations.iter().rev() {
        if needed[id.index()] {
            for instruction in computation.instructions.values() {
                instruction.op.called_computations().into_iter().for_each(|callee| needed[callee.index()] = true);
            }
        }
    }
    needed
}

/// The module without the computations that are not `reached`.
pub(super) fn without_unreachable(module: &Module, reached: &[bool]) -> Module {
    let mut image = Vec::with_capacity(reached.len());
    let mut computations: Arena<ComputationId, Computation> = Arena::new();
    for (id, computation) in module.computations.iter() {
        image.push(ComputationId::from_index(computations.len()));
        if reached[id.index()] {
            let mut computation = computation.clone();
            for instruction in computation.instructions.values_mut() {
                instruction.op.rename_computations(|callee| image[callee.index()]);
            }
            computations.push(computation);
        }
    }
    Module { entry: image[module.entry.index()], computations, ..module.clone() }
}
