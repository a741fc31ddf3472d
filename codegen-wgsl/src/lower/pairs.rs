//! Words of buffers in pairs.

use crate::kernel::{Block, Function, Kernel, Memory, MemoryId, Operand, ScalarOp, Space, Statement};
use weft_hlo::ir::{ArenaId, ElementType};
use weft_partition::Target;

/// The kernel with buffers of vectors [declared as numbers of 64 bits](Memory::pairs), where lanes of the device
/// [access memory one after the other](weft_partition::Hardware::serial_access) and it has such integers; any other as it is. What is read and
/// written is the same.
///
/// That is done of a buffer if all that a kernel reads of it and writes to it are vectors of words, and nothing is updated in it.
#[must_use]
pub fn pairs(kernel: &Kernel, target: &Target) -> Kernel {
    let mut lowered = kernel.clone();
    if !target.hardware.serial_access || !target.features.shader_int64 {
        return lowered;
    }
    let mut vectors: Vec<Option<bool>> = vec![None; kernel.memories.len()];
    for function in kernel.bodies() {
        accesses(function, &function.body, &mut |memory, is_vector| {
            let known = &mut vectors[memory.index()];
            *known = Some(known.unwrap_or(true) && is_vector);
        });
    }
    let is_one = |memory: &Memory| {
        let is_word = matches!(
            memory.shape.element_type,
            ElementType::F32 | ElementType::S32 | ElementType::U32 | ElementType::Pred
        );
        is_word && matches!(memory.space, Space::Buffer { .. }) && !memory.is_uniform()
    };
    let of = |memory: &Memory| match memory.space {
        Space::Buffer { binding, .. } => Some(binding),
        _ => None,
    };
    for (id, memory) in kernel.memories.iter() {
        let others = || kernel.memories.iter().filter(|(_, other)| of(other).is_some() && of(other) == of(memory));
        let is_accessed = others().any(|(other, _)| vectors[other.index()].is_some());
        let all = others().all(|(other, memory)| is_one(memory) && vectors[other.index()] != Some(false));
        lowered.memories[id].pairs = is_accessed && all;
    }
    lowered
}

/// Tells of every access to a memory whether it reads or writes vectors.
fn accesses(function: &Function, block: &Block, found: &mut dyn FnMut(MemoryId, bool)) {
    let is_vector = |operand: Operand| Kernel::operand_lanes(function, operand) > 1;
    for statement in &block.statements {
        match statement {
            Statement::Let { value, op: ScalarOp::Extract { memory, .. } } => {
                found(*memory, is_vector(Operand::Value(*value)));
            }
            Statement::Store { memory, value, .. } => found(*memory, is_vector(*value)),
            other => other.memory().into_iter().for_each(|memory| found(memory, false)),
        }
        statement.blocks().into_iter().for_each(|block| accesses(function, block, found));
    }
}
