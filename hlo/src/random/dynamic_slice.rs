//! Slices at places that are computed.

use super::body::Body;
use crate::ir::{ArrayShape, InstrId, Op};

/// The start indices: one scalar for each dimension, or one list of them.
fn starts(body: &mut Body<'_>, array: &ArrayShape) -> Vec<InstrId> {
    let index = body.index_type();
    if body.world.rng.chance(25) {
        return vec![body.operand(index, &[array.rank() as i64])];
    }
    array.extents.iter().map(|_| body.operand(index, &[])).collect()
}

/// Extents of a box within the array.
fn within(body: &mut Body<'_>, array: &ArrayShape) -> Vec<i64> {
    let rng = &mut body.world.rng;
    let size = |&extent: &i64| match rng.weighted(&[25, 70, 5]) {
        0 => extent,
        1 => rng.between(extent.min(1), extent),
        _ => 0,
    };
    array.extents.iter().map(size).collect()
}

fn operand(body: &mut Body<'_>) -> Option<(InstrId, ArrayShape)> {
    let least = usize::from(body.world.rng.chance(95));
    let operand = body.array(|_| true, least)?;
    let array = body.array_shape(operand);
    Some((operand, array))
}

pub(super) fn dynamic_slice(body: &mut Body<'_>) -> Option<InstrId> {
    let (operand, array) = operand(body)?;
    let starts = starts(body, &array);
    let dynamic_slice_sizes = within(body, &array);
    let operands = [operand].into_iter().chain(starts).collect();
    body.emit(Op::DynamicSlice { dynamic_slice_sizes }, operands, array.element_type)
}

pub(super) fn dynamic_update_slice(body: &mut Body<'_>) -> Option<InstrId> {
    let (operand, array) = operand(body)?;
    let starts = starts(body, &array);
    let sizes = within(body, &array);
    let update = body.operand(array.element_type, &sizes);
    let operands = [operand, update].into_iter().chain(starts).collect();
    body.emit(Op::DynamicUpdateSlice, operands, array.element_type)
}
