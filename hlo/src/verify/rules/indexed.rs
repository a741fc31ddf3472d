//! Verifier rules for gather and scatter.

use super::{Expected, Rule};
use crate::ir::{ComputationId, ElementType, GatherDimensions};
use crate::verify::code;

/// The names under which an operation has [`GatherDimensions`].
struct DimensionNames {
    window: &'static str,
    dropped: &'static str,
    index_map: &'static str,
    operand_batch: &'static str,
    indices_batch: &'static str,
}

const GATHER: DimensionNames = DimensionNames {
    window: "offset_dims",
    dropped: "collapsed_slice_dims",
    index_map: "start_index_map",
    operand_batch: "operand_batching_dims",
    indices_batch: "start_indices_batching_dims",
};

const SCATTER: DimensionNames = DimensionNames {
    window: "update_window_dims",
    dropped: "inserted_window_dims",
    index_map: "scatter_dims_to_operand_dims",
    operand_batch: "input_batching_dims",
    indices_batch: "scatter_indices_batching_dims",
};

/// Checks that no dimension has two roles; the indices are operand `position`.
fn check_dimensions(rule: &mut Rule<'_>, names: &DimensionNames, dimensions: &GatherDimensions<'_>, position: usize) {
    rule.typed(position, ElementType::is_integer, "an integer type");
    rule.ascending(names.window, dimensions.window);
    rule.ascending(names.dropped, dimensions.dropped);
    rule.ascending(names.operand_batch, dimensions.operand_batch);
    rule.distinct(names.index_map, dimensions.index_map);
    rule.distinct(names.indices_batch, dimensions.indices_batch);
    rule.disjoint([names.dropped, names.operand_batch], dimensions.dropped, dimensions.operand_batch);
    rule.disjoint([names.index_map, names.operand_batch], dimensions.index_map, dimensions.operand_batch);
    if dimensions.indices_batch.contains(&dimensions.index_vector) {
        rule.attribute(format!("{} names index_vector_dim, {}", names.indices_batch, dimensions.index_vector));
    }
}

pub(super) fn gather<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let dimensions = rule.op.gather_dimensions()?;
    let [operand, _] = rule.arrays()?;
    check_dimensions(rule, &GATHER, &dimensions, 1);
    Some(Expected::Array(operand.element_type))
}

/// `N` inputs, the indices, `N` updates.
pub(super) fn scatter<'a>(rule: &mut Rule<'a>, to_apply: ComputationId) -> Option<Expected<'a>> {
    let dimensions = rule.op.gather_dimensions()?;
    let count = rule.operands.len();
    if count < 3 || count.is_multiple_of(2) {
        let message =
            format!("scatter takes N inputs, the indices and N updates, N at least 1, and has {count} operands");
        rule.refuse(code::OPERAND_COUNT, message);
        return None;
    }
    let inputs = count / 2;
    let arrays = rule.all_arrays(0)?;
    check_dimensions(rule, &SCATTER, &dimensions, inputs);
    for input in 0..inputs {
        rule.typed_as(inputs + 1 + input, input);
    }
    let types: Vec<ElementType> = arrays[..inputs].iter().map(|array| array.element_type).collect();
    super::reduction::combine(rule, to_apply, &types, &types);
    Some(match &rule.operands[..inputs] {
        [input] => Expected::Same(input),
        all => Expected::Tuple(all.iter().map(|input| Expected::Same(input)).collect()),
    })
}
