//! The dimension numbers of `gather` and `scatter`, which are the same under other names.

use super::Op;

/// How the dimensions of three arrays of a `gather` or a `scatter` belong together: the operand, the indices, and the array
/// of windows, which is the result of a `gather` and the updates of a `scatter`. A window is a box of the operand.
///
/// Nothing is verified here: dimensions that do not exist belong to none.
#[derive(Copy, Clone, Debug)]
pub(crate) struct GatherDimensions<'a> {
    /// Dimensions of the array of windows that index into a window: `offset_dims`, `update_window_dims`.
    pub(crate) window: &'a [i64],
    /// Dimensions of the operand along which windows have one element, and none in the array of windows:
    /// `collapsed_slice_dims`, `inserted_window_dims`.
    pub(crate) dropped: &'a [i64],
    /// For each component of an index the operand's dimension: `start_index_map`, `scatter_dims_to_operand_dims`.
    pub(crate) index_map: &'a [i64],
    /// Batch dimensions of the operand: `operand_batching_dims`, `input_batching_dims`.
    pub(crate) operand_batch: &'a [i64],
    /// Batch dimensions of the indices, in the order of the operand's: `start_indices_batching_dims`,
    /// `scatter_indices_batching_dims`.
    pub(crate) indices_batch: &'a [i64],
    /// The dimension of the indices along which the components of an index lie, or their rank: `index_vector_dim`.
    pub(crate) index_vector: i64,
}

impl Op {
    /// The dimension numbers of a `gather` or a `scatter`; `None` of other operations.
    pub(crate) fn gather_dimensions(&self) -> Option<GatherDimensions<'_>> {
        match self {
            Op::Gather {
                offset_dims,
                collapsed_slice_dims,
                start_index_map,
                operand_batching_dims,
                start_indices_batching_dims,
                index_vector_dim,
                ..
            } => Some(GatherDimensions {
                window: offset_dims,
                dropped: collapsed_slice_dims,
                index_map: start_index_map,
                operand_batch: operand_batching_dims,
                indices_batch: start_indices_batching_dims,
                index_vector: *index_vector_dim,
            }),
            Op::Scatter {
                update_window_dims,
                inserted_window_dims,
                scatter_dims_to_operand_dims,
                input_batching_dims,
                scatter_indices_batching_dims,
                index_vector_dim,
                ..
            } => Some(GatherDimensions {
                window: update_window_dims,
                dropped: inserted_window_dims,
                index_map: scatter_dims_to_operand_dims,
                operand_batch: input_batching_dims,
                indices_batch: scatter_indices_batching_dims,
                index_vector: *index_vector_dim,
            }),
            _ => None,
        }
    }
}

impl GatherDimensions<'_> {
    /// Whether the array of windows lacks a dimension of the operand: windows have one element along it.
    pub(crate) fn is_dropped(&self, operand_dimension: usize) -> bool {
        contains(self.dropped, operand_dimension) || contains(self.operand_batch, operand_dimension)
    }

    /// The dimensions of the indices without that of the components; their product is the number of windows.
    pub(crate) fn index_batch(&self, indices_rank: usize) -> impl Iterator<Item = usize> {
        let vector = usize::try_from(self.index_vector).ok();
        (0..indices_rank).filter(move |&dimension| Some(dimension) != vector)
    }

    /// The dimensions of the array of windows that number windows, in the order of [`index_batch`](Self::index_batch).
    pub(crate) fn window_batch(&self, windows_rank: usize) -> impl Iterator<Item = usize> {
        (0..windows_rank).filter(|&dimension| !contains(self.window, dimension))
    }

    /// For each dimension of the operand the dimension of the array of windows that lies along it; `None` for those that
    /// are [dropped](Self::is_dropped).
    pub(crate) fn along(&self, operand_rank: usize, windows_rank: usize) -> impl Iterator<Item = Option<usize>> {
        let mut window = (0..windows_rank).filter(|&dimension| contains(self.window, dimension));
        (0..operand_rank).map(move |dimension| if self.is_dropped(dimension) { None } else { window.next() })
    }

    /// The batch dimensions of the operand, each with that of the indices.
    pub(crate) fn shared_batch(&self) -> impl Iterator<Item = (usize, usize)> {
        let pairs = self.operand_batch.iter().zip(self.indices_batch);
        pairs.filter_map(|(&operand, &indices)| Some((usize::try_from(operand).ok()?, usize::try_from(indices).ok()?)))
    }
}

fn contains(dimensions: &[i64], dimension: usize) -> bool {
    dimensions.iter().any(|&own| usize::try_from(own) == Ok(dimension))
}
