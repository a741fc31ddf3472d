//! Side effects and control predecessors, which every pass must keep.

use crate::ir::{Computation, InstrId, Instruction, Module};
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
pub(super) fn has_effect(instruction: &Instruction, callee_has: &dyn Fn(crate::ir::ComputationId) -> bool) -> bool {
    instruction.op.has_side_effects() || instruction.op.called_computations().into_iter().any(callee_has)
}

/// For each computation whether running it has an effect.
pub(super) fn effects(module: &Module) -> Vec<bool> {
    use crate::ir::ArenaId;
    let mut effects: Vec<bool> = Vec::with_capacity(module.computations.len());
    for computation in module.computations.values() {
        let known = |id: crate::ir::ComputationId| effects.get(id.index()).copied().unwrap_or(true);
        let has = computation.instructions.values().any(|instruction| has_effect(instruction, &known));
        effects.push(has);
    }
    effects
}
