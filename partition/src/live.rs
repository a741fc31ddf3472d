//! Which instructions the root of a computation needs.

use weft_hlo::ir::{ArenaId, Computation};

/// For each instruction of a computation whether its root needs it, by way of operands.
pub fn live(computation: &Computation) -> Vec<bool> {
    let mut live = vec![false; computation.instructions.len()];
    live[computation.root.index()] = true;
    for (id, instruction) in computation.instructions.iter().rev() {
        if live[id.index()] {
            instruction.operands.iter().for_each(|operand| live[operand.index()] = true);
        }
    }
    live
}
