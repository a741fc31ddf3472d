//! Code of scalars, written out for whole arrays.

use crate::ir::{ArenaId, Computation, Data, InstrId, Instruction, Op, Shape};
use crate::passes::build::Build;
use crate::passes::dead_code::needed_for;

/// Whether all that the root needs is computed of scalars one by one.
pub(super) fn is_scalar_code(computation: &Computation) -> bool {
    let needed = needed_for(computation, &[computation.root]);
    computation.instructions.iter().filter(|(id, _)| needed[id.index()]).all(|(_, instruction)| {
        let of = |shape: &Shape| shape.as_array().filter(|array| array.rank() == 0).map(|array| array.element_type);
        let Some(own) = of(&instruction.shape) else { return false };
        let read = |id: &InstrId| of(&computation.instructions[*id].shape);
        match &instruction.op {
            Op::Parameter { .. } => true,
            Op::Constant(literal) => literal.data != Data::Elided,
            Op::BitcastConvert | Op::Bitcast => {
                instruction.operands.iter().all(|id| read(id).is_some_and(|read| read.bits() == own.bits()))
            }
            _ if is_same(instruction) => true,
            op => op.opcode().is_elementwise(),
        }
    })
}

/// Whether the value of an instruction of scalars is that of its operand.
fn is_same(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Copy | Op::Reshape | Op::Broadcast { .. })
}

/// What [scalar code](is_scalar_code) makes of each element of arrays of these extents: its parameters of these numbers, if it needs them.
pub(super) fn written(
    build: &mut dyn Build,
    computation: &Computation,
    root: InstrId,
    extents: &[i64],
    arguments: &dyn Fn(usize) -> InstrId,
) -> InstrId {
    let needed = needed_for(computation, &[root]);
    let mut image: Vec<Option<InstrId>> = vec![None; computation.instructions.len()];
    const BEFORE: &str = "operands stand before what reads them";
    for (id, instruction) in computation.instructions.iter().filter(|(id, _)| needed[id.index()]) {
        let operands: Vec<InstrId> =
            instruction.operands.iter().map(|operand| image[operand.index()].expect(BEFORE)).collect();
        let made = match &instruction.op {
            Op::Parameter { number } => arguments(*number as usize),
            Op::Constant(_) => {
                let scalar = build.add(instruction.shape.without_layout(), instruction.op.clone(), Vec::new());
                if extents.is_empty() { scalar } else { build.broadcast(scalar, &[], extents.to_vec()) }
            }
            _ if is_same(instruction) => operands[0],
            op => {
                let element_type = instruction.shape.as_array().expect("scalars are arrays").element_type;
                let op = if *op == Op::Bitcast { Op::BitcastConvert } else { op.clone() };
                build.add(Shape::array(element_type, extents.to_vec()), op, operands)
            }
        };
        image[id.index()] = Some(made);
    }
    image[root.index()].expect(BEFORE)
}
