//! Regions of elementwise operations, written as operations on arrays.

use std::borrow::Cow;
use weft_hlo::ir::{ArenaId, Computation, ElementType, InstrId, Op, Shape};

/// The first instruction of a region that cannot be written so, by the name of its operation.
pub(crate) fn other_than_elementwise(region: &Computation) -> Option<Cow<'_, str>> {
    let other = region.instructions.values().find(|instruction| {
        let is_plain = instruction.op.opcode().is_elementwise();
        !is_plain && !matches!(instruction.op, Op::Parameter { .. } | Op::Constant(_) | Op::Copy | Op::Tuple)
    });
    other.map(|instruction| instruction.op.name())
}

/// Whether a region can be written as operations on arrays.
pub(crate) fn is_elementwise(region: &Computation) -> bool {
    other_than_elementwise(region).is_none()
}

/// What a region makes of arrays in place of scalars, one array for each of its results. Instructions are added by `add`, given shape, operation and operands.
pub(crate) fn applied(
    region: &Computation,
    arguments: &[InstrId],
    extents: &[i64],
    add: &mut impl FnMut(Shape, Op, Vec<InstrId>) -> InstrId,
) -> Vec<InstrId> {
    let mut image: Vec<InstrId> = Vec::with_capacity(region.instructions.len());
    for instruction in region.instructions.values() {
        let operands: Vec<InstrId> = instruction.operands.iter().map(|operand| image[operand.index()]).collect();
        let element_type = instruction.shape.as_array().map_or(ElementType::Pred, |array| array.element_type);
        let shape = Shape::array(element_type, extents);
        let value = match &instruction.op {
            Op::Parameter { number } => usize::try_from(*number).ok().and_then(|number| arguments.get(number)).copied(),
            // It is the root, whose elements are asked for.
            Op::Tuple => operands.first().copied(),
            Op::Constant(_) => {
                let scalar = add(instruction.shape.clone(), instruction.op.clone(), Vec::new());
                Some(add(shape, Op::Broadcast { dimensions: Vec::new() }, vec![scalar]))
            }
            op => Some(add(shape, op.clone(), operands)),
        };
        image.push(value.unwrap_or_else(|| arguments[0]));
    }
    let root = &region.instructions[region.root];
    match root.op {
        Op::Tuple => root.operands.iter().map(|result| image[result.index()]).collect(),
        _ => vec![image[region.root.index()]],
    }
}
