//! Gather and scatter: slices and windows at computed places.

use super::{Expected, Rule};
use crate::ir::{ArrayShape, ComputationId, ElementType, Op};
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
    /// Checks the numbers against the operand and the indices, which are operand `position`; the rank of the result or
    /// the updates that follows.
    fn check(&self, rule: &mut Rule<'_>, operand: &ArrayShape, indices: &ArrayShape, position: usize) -> Option<usize> {
        let rank = operand.rank();
        rule.typed(position, ElementType::is_integer, "an integer type");
        rule.ascending(self.left_out.0, self.left_out.1, rank);
        rule.ascending(self.operand_batch.0, self.operand_batch.1, rank);
        rule.dimensions(self.index_map.0, self.index_map.1, rank);
        for other in [self.left_out, self.index_map] {
            rule.disjoint([other.0, self.operand_batch.0], other.1, self.operand_batch.1);
        }
        let covered = self.offsets.1.len() + self.left_out.1.len() + self.operand_batch.1.len();
        if covered != rank {
            let message = format!(
                "{}, {} and {} must together name as many dimensions as operand 0 has, {rank}, and name {covered}",
                self.offsets.0, self.left_out.0, self.operand_batch.0
            );
            rule.attribute(message);
        }
        rule.dimensions(self.indices_batch.0, self.indices_batch.1, indices.rank());
        rule.as_many([self.operand_batch.0, self.indices_batch.0], self.operand_batch.1, self.indices_batch.1);
        self.index_vector(rule, indices)
    }

    fn index_vector(&self, rule: &mut Rule<'_>, indices: &ArrayShape) -> Option<usize> {
        let at = usize::try_from(self.index_vector_dim).ok().filter(|&at| at <= indices.rank());
        let Some(at) = at else {
            let message = format!(
                "index_vector_dim must be between 0 and the rank of the indices, {}, and is {}",
                indices.rank(),
                self.index_vector_dim
            );
            rule.attribute(message);
            return None;
        };
        if self.indices_batch.1.contains(&self.index_vector_dim) {
            let message = format!("{} names index_vector_dim, {at}", self.indices_batch.0);
            rule.attribute(message);
        }
        let batch = indices.rank() - usize::from(at < indices.rank());
        let rank = batch + self.offsets.1.len();
        rule.ascending(self.offsets.0, self.offsets.1, rank);
        Some(rank)
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
        slice_sizes,
        ..
    } = rule.op
    else {
        return None;
    };
    let [operand, indices] = rule.arrays()?;
    let numbers = Numbers {
        offsets: ("offset_dims", offset_dims),
        left_out: ("collapsed_slice_dims", collapsed_slice_dims),
        index_map: ("start_index_map", start_index_map),
        operand_batch: ("operand_batching_dims", operand_batching_dims),
        indices_batch: ("start_indices_batching_dims", start_indices_batching_dims),
        index_vector_dim: *index_vector_dim,
    };
    numbers.check(rule, operand, indices, 1);
    super::movement::one_per_dimension(rule, "slice_sizes", slice_sizes.len(), operand);
    for (dimension, &size) in (0i64..).zip(slice_sizes) {
        if size > 1 {
            let all =
                [("collapsed_slice_dims", collapsed_slice_dims), ("operand_batching_dims", operand_batching_dims)];
            for (name, _) in all.into_iter().filter(|(_, dimensions)| dimensions.contains(&dimension)) {
                let message = format!(
                    "slice_sizes of dimension {dimension}, which {name} names, must be at most 1 and is {size}"
                );
                rule.attribute(message);
            }
        }
    }
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
    let rank = numbers.check(rule, arrays[0], arrays[inputs], inputs);
    for input in 0..inputs {
        let update = inputs + 1 + input;
        rule.typed_as(update, input);
        if let Some(rank) = rank {
            rule.ranked(
                update,
                rank,
                ", that of the indices without index_vector_dim and update_window_dims together,",
            );
        }
    }
    let types: Vec<ElementType> = arrays[..inputs].iter().map(|array| array.element_type).collect();
    super::reduction::combine(rule, to_apply, &types, &types);
    Some(match &rule.operands[..inputs] {
        [input] => Expected::Same(input),
        all => Expected::Tuple(all.iter().map(|input| Expected::Same(input)).collect()),
    })
}
