//! Scans: a computation applied to slice after slice.

use super::body::{Body, ComputationKind};
use super::region::yielded;
use crate::ir::{ArrayShape, InstrId, Op, Shape};

/// Inputs and outputs of one length along the dimension; what is carried has any extents.
pub(super) fn scan(body: &mut Body<'_>) -> Option<InstrId> {
    let first = body.array(|_| true, 1)?;
    let array = body.array_shape(first);
    let dimension = body.world.rng.below(array.rank());
    let length = array.extents[dimension];
    let mut operands = vec![first];
    if body.world.rng.chance(30) {
        let element_type = body.element_type(|_| true)?;
        operands.push(body.operand(element_type, &array.extents));
    }
    let mut slices: Vec<Shape> = operands.iter().map(|&input| slice(&body.array_shape(input), dimension)).collect();
    // Outputs of the inputs' extents, and of any type.
    let mut outputs = Vec::new();
    for _ in 0..body.world.rng.below(3) {
        outputs.push(slice(&ArrayShape::new(body.element_type(|_| true)?, array.extents.clone()), dimension));
    }
    let carries = usize::from(outputs.is_empty()) + body.world.rng.below(2);
    let mut carried = Vec::with_capacity(carries);
    for _ in 0..carries {
        let element_type = body.element_type(|_| true)?;
        let extents = body.extents(0);
        operands.push(body.operand(element_type, &extents));
        carried.push(Shape::array(element_type, extents));
    }
    slices.extend(carried.iter().cloned());

    let mut inner = body.nested(ComputationKind::FixedSignature);
    for shape in slices {
        inner.parameter(shape);
    }
    let count = 1 + inner.world.rng.below(5);
    inner.grow(count);
    let values = outputs.iter().chain(&carried).map(|shape| inner.value(shape)).collect();
    let root = yielded(&mut inner, values);
    let to_apply = inner.finish("step", root);

    let whole = |slice: &Shape| {
        let mut array = slice.as_array().cloned()?;
        array.extents.insert(dimension, length);
        Some(Shape::Array(array))
    };
    let mut results = outputs.iter().map(whole).chain(carried.into_iter().map(Some)).collect::<Option<Vec<Shape>>>()?;
    let declared = if results.len() == 1 { results.remove(0) } else { Shape::Tuple(results) };
    let op = Op::Scan {
        dimension: dimension as i64,
        num_carries: carries as i64,
        is_reverse: body.world.rng.chance(30),
        is_associative: false,
        to_apply,
    };
    body.emit_as(op, operands, declared)
}

/// The array at one index along a dimension.
fn slice(array: &ArrayShape, dimension: usize) -> Shape {
    let mut extents = array.extents.clone();
    extents.remove(dimension);
    Shape::array(array.element_type, extents)
}
