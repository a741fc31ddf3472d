//! Sorting, and the greatest elements.

use super::body::Body;
use super::region::{comparator, results, types};
use crate::ir::{ElementType, InstrId, Op, Shape};

pub(super) fn sort(body: &mut Body<'_>) -> Option<InstrId> {
    let first = body.array(|_| true, 1)?;
    let array = body.array_shape(first);
    let types = types(body, array.element_type);
    let mut operands = vec![first];
    for &element_type in &types[1..] {
        operands.push(body.operand(element_type, &array.extents));
    }
    let dimension = body.world.rng.below(array.rank()) as i64;
    let to_apply = comparator(body, &types);
    // Without stability XLA leaves open which of two equal elements comes first.
    let is_stable = !body.world.options.disorderly || body.world.rng.chance(50);
    body.emit_as(Op::Sort { dimension, is_stable, to_apply }, operands, results(&types))
}

pub(super) fn top_k(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|element_type| !element_type.is_complex(), 1)?;
    let array = body.array_shape(operand);
    let last = array.extents.last().copied()?;
    let k = body.world.rng.between(0, last);
    let largest = body.world.rng.chance(70);
    let declared = Shape::Tuple(vec![Shape::scalar(array.element_type), Shape::scalar(ElementType::S32)]);
    body.emit_as(Op::TopK { k, largest }, vec![operand], declared)
}
