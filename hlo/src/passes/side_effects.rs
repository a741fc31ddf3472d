//! Side effects and control predecessors, which every pass must keep.

use crate::ir::{ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op, is_collective};
use std::collections::{BTreeSet, HashMap};

/// The instructions that name others, or are named, as control predecessors: their order is part of the program.
pub(super) fn pinned(computation: &Computation) -> BTreeSet<InstrId> {
    let mut pinned = BTreeSet::new();
    let mut named: Vec<&str> = Vec::new();
    for (id, instruction) in computation.instructions.iter() {
        for attribute in instruction.attributes.iter().filter(|attribute| attribute.name == "control-predecessors") {
            pinned.insert(id);
            let names = attribute.value.trim_matches(|c| c == '{' || c == '}').split(',');
            named.extend(names.map(|name| name.trim().trim_start_matches('%')));
        }
    }
    if !named.is_empty() {
        let ids: HashMap<&str, InstrId> =
            computation.instructions.iter().map(|(id, instruction)| (instruction.name.as_str(), id)).collect();
        pinned.extend(named.into_iter().filter_map(|name| ids.get(name)));
    }
    pinned
}

/// Whether running the instruction does something besides giving its value, or gives another value each time: by itself, or
/// through the computations it calls, whose answers are given.
pub(super) fn has_effect(instruction: &Instruction, callee_has: &dyn Fn(ComputationId) -> bool) -> bool {
    instruction.op.has_side_effects() || instruction.op.called_computations().into_iter().any(callee_has)
}

/// For each computation whether running it has an effect.
pub(super) fn effects(module: &Module) -> Vec<bool> {
    effects_but(module, &|_| false)
}

/// As [`effects`], of operations that are values but for what they call.
pub(super) fn effects_but(module: &Module, is_value: &dyn Fn(&Op) -> bool) -> Vec<bool> {
    let mut effects: Vec<bool> = Vec::with_capacity(module.computations.len());
    for computation in module.computations.values() {
        let known = |id: ComputationId| effects.get(id.index()).copied().unwrap_or(true);
        let has = computation.instructions.values().any(|instruction| {
            let op = &instruction.op;
            op.has_side_effects() && !is_value(op) || op.called_computations().into_iter().any(known)
        });
        effects.push(has);
    }
    effects
}

/// Whether what has effects on other devices, or while others compute, is a value where there is one device and one thing at a time.
pub(super) fn is_value_alone(op: &Op) -> bool {
    is_collective(op)
        || matches!(
            op,
            Op::AllGatherDone
                | Op::AllReduceDone
                | Op::CollectivePermuteDone
                | Op::CopyStart { .. }
                | Op::CopyDone
                | Op::AsyncStart { .. }
                | Op::AsyncUpdate { .. }
                | Op::AsyncDone { .. }
        )
}
