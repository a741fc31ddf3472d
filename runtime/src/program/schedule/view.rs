//! Fusions that compute nothing: their result is their operand under another shape.

use weft_hlo::ir::{ArrayShape, Computation, Op};
use weft_partition::{Fused, Site};

/// Whether a fusion is a reshape or a bitcast, or several in a row, that leave every element where it is, row-major. Such a fusion is no launch: its
/// result lies where its operand does.
pub(super) fn is_view(fused: &Fused, site: Site) -> bool {
    let calls = fused.instruction(site).and_then(|fusion| match (&fusion.op, fusion.operands.as_slice()) {
        (Op::Fusion { calls, .. }, [_]) => Some(*calls),
        _ => None,
    });
    calls.is_some_and(|calls| keeps_elements(&fused.module.computations[calls]))
}

fn keeps_elements(computation: &Computation) -> bool {
    let mut id = computation.root;
    loop {
        let instruction = &computation.instructions[id];
        if let Op::Parameter { .. } = instruction.op {
            return id != computation.root;
        }
        let [operand] = instruction.operands[..] else { return false };
        let of = computation.instructions[operand].shape.as_array();
        let (Some(shape), Some(of)) = (instruction.shape.as_array(), of) else { return false };
        let stays = match instruction.op {
            Op::Reshape => is_dense(shape) && is_dense(of),
            Op::Bitcast => is_row_major(shape) && is_row_major(of),
            _ => false,
        };
        if !stays || shape.element_type != of.element_type || !shape.dynamic.is_empty() || !of.dynamic.is_empty() {
            return false;
        }
        id = operand;
    }
}

/// Whether the layout of a shape, if it has one, is but an order of dimensions.
fn is_dense(shape: &ArrayShape) -> bool {
    shape.layout.as_ref().is_none_or(|layout| layout.physical.is_none())
}

/// Whether the layout of a shape, if it has one, is that of device buffers.
fn is_row_major(shape: &ArrayShape) -> bool {
    let is_in_order = |order: &[usize]| order.iter().copied().eq((0..shape.rank()).rev());
    is_dense(shape) && shape.layout.as_ref().is_none_or(|layout| is_in_order(&layout.minor_to_major))
}
