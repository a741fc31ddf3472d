//! Verifier rules for gather and scatter.

use super::{Expected, Rule};
use crate::ir::{ComputationId, ElementType, Op};
use crate::verify::code;

/// The dimension numbers that `gather` and `scatter` have in common, under the names that each gives them.
struct Numbers<'a> {
    /// Dimensions of the slices in the result, or of the windows in the updates.
    offsets: (&'static str, &'a [i64]),
    /// Dimensions of one element that are left out.
    left_out: (&'static str, &'a [i64]),
    /// The operand's dimension for each component of an index.
    index_map: (&'static str, &'a [i64]),
    operand_batch: (&'static str, &'a [i64]),
    indices_batch: (&'static str, &'a [i64]),
    index_vector_dim: i64,
}

impl Numbers<'_> {
    /// Checks that no dimension has two roles; the indices are operand `position`.
    fn check(&self, rule: &mut Rule<'_>, position: usize) {
        rule.typed(position, ElementType::is_integer, "an integer type");
        for list in [self.offsets, self.left_out, self.operand_batch] {
            rule.ascending(list.0, list.1);
        }
        for list in [self.index_map, self.indices_batch] {
            rule.distinct(list.0, list.1);
        }
        for other in [self.left_out, self.index_map] {
            rule.disjoint([other.0, self.operand_batch.0], other.1, self.operand_batch.1);
        }
        if self.indices_batch.1.contains(&self.index_vector_dim) {
            rule.attribute(format!("{} names index_vector_dim, {}", self.indices_batch.0, self.index_vector_dim));
        }
    }
}

pub(super) fn gather<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let Op::Gather {
        offset_dims,
        collapsed_slice_dims,
        start_index_map,
        operand_batching_dims,
        start_indices_batching_dims,
        index_vector_dim,
        ..
    } = rule.op
    else {
        return None;
    };
    let [operand, _] = rule.arrays()?;
    let numbers = Numbers {
        offsets: ("offset_dims", offset_dims),
        left_out: ("collapsed_slice_dims", collapsed_slice_dims),
        index_map: ("start_index_map", start_index_map),
        operand_batch: ("operand_batching_dims", operand_batching_dims),
        indices_batch: ("start_indices_batching_dims", start_indices_batching_dims),
        index_vector_dim: *index_vector_dim,
    };
    numbers.check(rule, 1);
    Some(Expected::Array(operand.element_type))
}

/// `N` inputs, the indices, `N` updates.
pub(super) fn scatter<'a>(rule: &mut Rule<'a>, to_apply: ComputationId) -> Option<Expected<'a>> {
    let Op::Scatter {
        update_window_dims,
        inserted_window_dims,
        scatter_dims_to_operand_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        index_vector_dim,
        ..
    } = rule.op
    else {
        return None;
    };
    let count = rule.operands.len();
    if count < 3 || count.is_multiple_of(2) {
        let message =
            format!("scatter takes N inputs, the indices and N updates, N at least 1, and has {count} operands");
        rule.refuse(code::OPERAND_COUNT, message);
        return None;
    }
    let inputs = count / 2;
    let arrays = rule.all_arrays(0)?;
    let numbers = Numbers {
        offsets: ("update_window_dims", update_window_dims),
        left_out: ("inserted_window_dims", inserted_window_dims),
        index_map: ("scatter_dims_to_operand_dims", scatter_dims_to_operand_dims),
        operand_batch: ("input_batching_dims", input_batching_dims),
        indices_batch: ("scatter_indices_batching_dims", scatter_indices_batching_dims),
        index_vector_dim: *index_vector_dim,
    };
    numbers.check(rule, inputs);
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
