//! The order of what has side effects.

use weft_hlo::ir::{ArenaId, ComputationId, InstrId, Module};

/// For each instruction of a program the last one before it that has side effects, where it has some itself, or runs what has: these keep their order.
pub(super) fn predecessors(module: &Module, program: ComputationId) -> Vec<Option<InstrId>> {
    // Callees stand before their callers.
    let mut of_computations: Vec<bool> = Vec::with_capacity(module.computations.len());
    for computation in module.computations.values() {
        let has = computation.instructions.values().any(|one| has_effects(one, &of_computations));
        of_computations.push(has);
    }
    let mut last = None;
    let instructions = &module.computations[program].instructions;
    let of = |(id, instruction)| {
        let has = has_effects(instruction, &of_computations);
        if has { last.replace(id) } else { None }
    };
    instructions.iter().map(of).collect()
}

fn has_effects(instruction: &weft_hlo::ir::Instruction, of_computations: &[bool]) -> bool {
    let runs = |callee: &ComputationId| of_computations.get(callee.index()).copied().unwrap_or(true);
    instruction.op.has_side_effects() || instruction.op.called_computations().iter().any(runs)
}
