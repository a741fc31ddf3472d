//! Operations that pass arrays on: tuple, get-tuple-element, and those that yield an operand as it is.

use super::context::{InstructionContext, OperationMaps, index};
use super::{Dependence, Relation};
use crate::ir::Shape;
use weft_indexing::IndexingMap;

/// The array `leaf` of an operand, of this shape, is the array `result` of the value.
fn passed_on(result: usize, operand: usize, leaf: usize, shape: &Shape) -> Dependence {
    let relation = match shape {
        Shape::Array(array) => IndexingMap::identity(&array.extents).into(),
        // A token has no elements.
        _ => Relation::Maps(Vec::new()),
    };
    Dependence { result: Some(result), operand: Some(operand), leaf: Some(leaf), relation }
}

/// The operands side by side.
pub(super) fn tuple(context: &InstructionContext<'_>) -> OperationMaps {
    let operands = (0..context.operands()).flat_map(|operand| {
        let leaves = context.operand_shape(operand).leaves().into_iter().enumerate();
        leaves.map(move |(leaf, shape)| (operand, leaf, shape))
    });
    Ok(operands.enumerate().map(|(result, (operand, leaf, shape))| passed_on(result, operand, leaf, shape)).collect())
}

/// Where the arrays of each element of a tuple begin among those of the whole, and how many there are in all.
pub(super) fn starts(tuple: &Shape) -> Vec<usize> {
    let elements = tuple.as_tuple().unwrap_or_default().iter();
    let ends = elements.scan(0, |end, shape| {
        *end += shape.leaves().len();
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// One element of a tuple.
pub(super) fn get_tuple_element(context: &InstructionContext<'_>, element: i64) -> OperationMaps {
    let element = index(element);
    let before = match context.starts.get(element) {
        Some(start) => *start,
        None => starts(context.operand_shape(0)).get(element).copied().unwrap_or_default(),
    };
    let leaves = context.instruction.shape.leaves().into_iter().enumerate();
    Ok(leaves.map(|(leaf, shape)| passed_on(leaf, 0, before + leaf, shape)).collect())
}

/// The first operand as it is.
pub(super) fn copy(context: &InstructionContext<'_>) -> OperationMaps {
    let leaves = context.instruction.shape.leaves().into_iter().enumerate();
    Ok(leaves.map(|(leaf, shape)| passed_on(leaf, 0, leaf, shape)).collect())
}
