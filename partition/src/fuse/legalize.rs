//! Rewrites what no kernel of the target could bind.

use crate::Target;
use std::collections::BTreeSet;
use weft_hlo::ir::UniqueNames;
use weft_hlo::ir::{Arena, ArenaId, ComputationId, InstrId, Instruction, Module, Op, Shape};

/// Splits concatenates of more operands than a kernel can bind into concatenates of concatenates, in the
/// computation of a program.
pub(super) fn split_wide_concatenates(mut module: Module, id: ComputationId, target: &Target) -> Module {
    let width = (target.max_storage_buffers as usize).saturating_sub(1).max(2);
    let entry = &module.computations[id];
    let is_wide = |instruction: &Instruction| {
        // An operand that occurs twice is bound once.
        let distinct: BTreeSet<InstrId> = instruction.operands.iter().copied().collect();
        matches!(instruction.op, Op::Concatenate { .. }) && distinct.len() > width
    };
    if !entry.instructions.values().any(is_wide) {
        return module;
    }
    let mut names = UniqueNames::default();
    entry.instructions.values().for_each(|instruction| {
        names.take(&instruction.name);
    });
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut image: Vec<InstrId> = Vec::with_capacity(entry.instructions.len());
    for instruction in entry.instructions.values() {
        let mut instruction = instruction.clone();
        instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        if let Op::Concatenate { dimension } = instruction.op {
            while is_wide(&instruction) {
                let groups: Vec<InstrId> = instruction
                    .operands
                    .chunks(width)
                    .map(|group| {
                        if let [single] = group {
                            return *single;
                        }
                        let along = usize::try_from(dimension).unwrap_or(0);
                        let mut part = instruction.clone();
                        part.name = names.take(&instruction.name);
                        part.operands = group.to_vec();
                        if let Shape::Array(shape) = &mut part.shape {
                            let extent = |id: &InstrId| {
                                instructions[*id].shape.as_array().map_or(0, |array| array.extents[along])
                            };
                            shape.extents[along] = group.iter().map(extent).sum();
                        }
                        instructions.push(part)
                    })
                    .collect();
                instruction.operands = groups;
            }
        }
        image.push(instructions.push(instruction));
    }
    let entry = &mut module.computations[id];
    entry.root = image[entry.root.index()];
    entry.instructions = instructions;
    module
}
