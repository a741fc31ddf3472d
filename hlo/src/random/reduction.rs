//! Reductions over dimensions.

use super::body::Body;
use super::region::{combiner, results, types};
use crate::ir::{ElementType, InstrId, Op};

/// Inputs of the same extents, their types, and an initial value for each behind them.
pub(super) fn inputs(body: &mut Body<'_>) -> Option<(Vec<InstrId>, Vec<ElementType>)> {
    let least = usize::from(body.world.rng.chance(90));
    let first = body.array(|_| true, least)?;
    let array = body.array_shape(first);
    let types = types(body, array.element_type);
    let mut operands = vec![first];
    for &element_type in &types[1..] {
        operands.push(body.operand(element_type, &array.extents));
    }
    for &element_type in &types {
        operands.push(body.operand(element_type, &[]));
    }
    Some((operands, types))
}

pub(super) fn reduce(body: &mut Body<'_>) -> Option<InstrId> {
    let (operands, types) = inputs(body)?;
    let rank = body.array_shape(operands[0]).rank();
    let count = body.world.rng.below(rank + 1);
    let dimensions = body.world.rng.dimensions(rank, count);
    let dimensions = dimensions.into_iter().map(|dimension| dimension as i64).collect();
    let to_apply = combiner(body, &types);
    body.emit_as(Op::Reduce { dimensions, to_apply }, operands, results(&types))
}
