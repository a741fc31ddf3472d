//! Random parameters, constants, tuples, tokens and copies.

use super::body::Body;
use crate::ir::{ElementType, InstrId, Op, Shape};

/// Takes some elements out of a tuple that was just made, so that they find readers.
pub(super) fn take_apart(body: &mut Body<'_>, id: InstrId) {
    let count = body.shape(id).as_tuple().map_or(0, <[Shape]>::len);
    for index in 0..count {
        if body.world.rng.chance(60) {
            let element = element(body, id, index);
            // A tuple within a tuple.
            if body.world.rng.chance(50) {
                take_apart(body, element);
            }
        }
    }
}

/// An element of a tuple.
pub(super) fn element(body: &mut Body<'_>, id: InstrId, index: usize) -> InstrId {
    let elements = body.shape(id).as_tuple().unwrap_or_default();
    let shape = elements.get(index).map_or(Shape::Token, Shape::without_layout);
    body.push(Op::GetTupleElement { index: index as i64 }, vec![id], shape)
}

pub(super) fn parameter(body: &mut Body<'_>) -> Option<InstrId> {
    use super::body::ComputationKind;
    if !matches!(body.kind, ComputationKind::Entry | ComputationKind::Function) || body.parameters.len() >= 8 {
        return None;
    }
    let shape = body.any_shape()?;
    Some(body.parameter(shape))
}

/// A constant; rarely a tuple of them, which may hold tuples.
pub(super) fn constant(body: &mut Body<'_>) -> Option<InstrId> {
    use super::literal::array;
    use crate::ir::Literal;
    let draw = |body: &mut Body<'_>| {
        let element_type = body.element_type(|_| true)?;
        let extents = body.extents(0);
        Some(array(&mut body.world.rng, body.world.options.numbers, element_type, &extents))
    };
    let mut literal = draw(body)?;
    while !body.is_plain && body.world.rng.chance(15) {
        let mut elements = vec![literal];
        while body.world.rng.chance(40) {
            elements.push(draw(body)?);
        }
        literal = Literal::tuple(elements);
    }
    Some(body.literal(literal))
}

/// A value that is there.
fn any(body: &mut Body<'_>, accepts: impl Fn(&Shape) -> bool) -> Option<InstrId> {
    let there: Vec<InstrId> =
        body.instructions().iter().filter(|(_, instruction)| accepts(&instruction.shape)).map(|(id, _)| id).collect();
    body.late(&there)
}

/// How many tuples a value is nested in, and how many arrays it holds, bounded so that tuples of tuples do not grow.
fn is_modest(shape: &Shape) -> bool {
    let depth = |mut shapes: Vec<&Shape>| {
        let mut depth = 0;
        while !shapes.is_empty() {
            depth += 1;
            shapes = shapes.into_iter().filter_map(Shape::as_tuple).flatten().collect();
        }
        depth
    };
    shape.leaves().len() <= 6 && depth(vec![shape]) <= 3
}

pub(super) fn tuple(body: &mut Body<'_>) -> Option<InstrId> {
    let count = body.world.rng.below(5);
    let mut operands = Vec::with_capacity(count);
    for _ in 0..count {
        operands.push(any(body, is_modest)?);
    }
    let shape = Shape::Tuple(operands.iter().map(|&id| body.shape(id).without_layout()).collect());
    Some(body.push(Op::Tuple, operands, shape))
}

pub(super) fn get_tuple_element(body: &mut Body<'_>) -> Option<InstrId> {
    let is_filled = |shape: &Shape| shape.as_tuple().is_some_and(|elements| !elements.is_empty());
    let tuple = match any(body, is_filled) {
        Some(tuple) => tuple,
        None => tuple(body).filter(|&tuple| is_filled(body.shape(tuple)))?,
    };
    let count = body.shape(tuple).as_tuple().map_or(0, <[Shape]>::len);
    let index = body.world.rng.below(count);
    Some(element(body, tuple, index))
}

pub(super) fn opt_barrier(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = any(body, |_| true).or_else(|| body.array(|_| true, 0))?;
    let shape = body.shape(operand).without_layout();
    Some(body.push(Op::OptimizationBarrier, vec![operand], shape))
}

/// Of an array, rarely of a tuple.
pub(super) fn copy(body: &mut Body<'_>) -> Option<InstrId> {
    let tuple = if body.world.rng.chance(35) { any(body, |shape| shape.as_tuple().is_some()) } else { None };
    let operand = tuple.or_else(|| body.array(|_| true, 0))?;
    let shape = body.shape(operand).without_layout();
    Some(body.push(Op::Copy, vec![operand], shape))
}

pub(super) fn after_all(body: &mut Body<'_>) -> Option<InstrId> {
    let tokens = body.values_like(&Shape::Token);
    let count = body.world.rng.below(tokens.len().min(2) + 1);
    let operands = (0..count).filter_map(|_| body.late(&tokens)).collect();
    Some(body.push(Op::AfterAll, operands, Shape::Token))
}

pub(super) fn add_dependency(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = any(body, |shape| *shape != Shape::Token).or_else(|| body.array(|_| true, 0))?;
    let token = body.value(&Shape::Token);
    let shape = body.shape(operand).without_layout();
    Some(body.push(Op::AddDependency, vec![operand, token], shape))
}

pub(super) fn partition_id(body: &mut Body<'_>) -> Option<InstrId> {
    body.emit(Op::PartitionId, Vec::new(), ElementType::U32)
}

pub(super) fn replica_id(body: &mut Body<'_>) -> Option<InstrId> {
    body.emit(Op::ReplicaId, Vec::new(), ElementType::U32)
}

pub(super) fn get_dimension_size(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|_| true, 1)?;
    let dimension = body.world.rng.below(body.array_shape(operand).rank()) as i64;
    body.emit(Op::GetDimensionSize { dimension }, vec![operand], ElementType::S32)
}
