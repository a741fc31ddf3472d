//! The oracle of gather and scatter.

use super::cells::cells;
use super::movement::number;
use super::scene::Recorder;
use weft_hlo::ir::Op;

/// The dimension numbers that both have, and which operand holds the indices.
struct Numbers<'a> {
    /// Dimensions of the result, or of the updates, that lie within a slice.
    within: &'a [i64],
    /// Dimensions of the operand that slices do not have.
    dropped: &'a [i64],
    mapped: &'a [i64],
    operand_batch: &'a [i64],
    indices_batch: &'a [i64],
    vector: usize,
    indices: usize,
}

impl Numbers<'_> {
    /// The index into the indices' batch dimensions that a cell of the result, or of the updates, belongs to.
    fn batch(&self, cell: &[i64]) -> Vec<i64> {
        let outside = (0..cell.len()).filter(|&dimension| !self.within.contains(&(dimension as i64)));
        outside.map(|dimension| cell[dimension]).collect()
    }

    /// The cells of the index vector at an index into the batch dimensions.
    fn vector(&self, r: &Recorder<'_>, batch: &[i64]) -> Vec<Vec<i64>> {
        let extents = r.scene.operand(self.indices);
        if self.vector == extents.len() {
            return vec![batch.to_vec()];
        }
        let component = |component: i64| {
            let mut cell = batch.to_vec();
            cell.insert(self.vector, component);
            cell
        };
        (0..extents[self.vector]).map(component).collect()
    }

    /// Where the slice of a batch begins in the operand, as the indices say.
    fn start(&self, r: &Recorder<'_>, batch: &[i64], rank: usize) -> Vec<i128> {
        let mut start = vec![0; rank];
        for (cell, &dimension) in self.vector(r, batch).iter().zip(self.mapped) {
            start[number(dimension)] = r.scene.integer(self.indices, cell);
        }
        for (&dimension, &of_indices) in self.operand_batch.iter().zip(self.indices_batch) {
            // Batch dimensions are numbered among all dimensions of the indices.
            let before = number(of_indices) - usize::from(number(of_indices) > self.vector);
            start[number(dimension)] = i128::from(batch[before]);
        }
        start
    }

    /// How far from its start a cell of the result, or of the updates, lies within its slice.
    fn offset(&self, cell: &[i64], rank: usize) -> Vec<i64> {
        let mut within = (0..cell.len()).filter(|&dimension| self.within.contains(&(dimension as i64)));
        let offset = |dimension: i64| match self.dropped.contains(&dimension) || self.operand_batch.contains(&dimension)
        {
            true => 0,
            false => cell[within.next().expect("every other dimension of a slice is kept")],
        };
        (0..rank as i64).map(offset).collect()
    }
}

pub(crate) fn gather(r: &mut Recorder<'_>) {
    let Op::Gather {
        offset_dims,
        collapsed_slice_dims,
        start_index_map,
        operand_batching_dims,
        start_indices_batching_dims,
        index_vector_dim,
        slice_sizes,
        ..
    } = &r.scene.instruction().op
    else {
        return;
    };
    let numbers = Numbers {
        within: offset_dims,
        dropped: collapsed_slice_dims,
        mapped: start_index_map,
        operand_batch: operand_batching_dims,
        indices_batch: start_indices_batching_dims,
        vector: number(*index_vector_dim),
        indices: 1,
    };
    let operand = r.scene.operand(0);
    for output in r.outputs(0) {
        let batch = numbers.batch(&output);
        let start = numbers.start(r, &batch, operand.len());
        let offset = numbers.offset(&output, operand.len());
        let mut cell = Vec::with_capacity(operand.len());
        for dimension in 0..operand.len() {
            let is_batch = operand_batching_dims.contains(&(dimension as i64));
            let last = if is_batch { i128::MAX } else { i128::from(operand[dimension] - slice_sizes[dimension]) };
            cell.push(start[dimension].min(last).max(0) as i64 + offset[dimension]);
        }
        // A slice without elements has nothing to read, even if dimensions that are dropped leave a result.
        if offset.iter().zip(slice_sizes).all(|(at, size)| at < size) {
            r.one(0, &output, 0, &cell);
        }
        for read in numbers.vector(r, &batch) {
            r.one(0, &output, 1, &read);
        }
    }
}

/// A window that does not lie within the operand is left out as a whole.
pub(crate) fn scatter(r: &mut Recorder<'_>) {
    let Op::Scatter {
        update_window_dims,
        inserted_window_dims,
        scatter_dims_to_operand_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        index_vector_dim,
        ..
    } = &r.scene.instruction().op
    else {
        return;
    };
    let inputs = r.scene.results();
    let numbers = Numbers {
        within: update_window_dims,
        dropped: inserted_window_dims,
        mapped: scatter_dims_to_operand_dims,
        operand_batch: input_batching_dims,
        indices_batch: scatter_indices_batching_dims,
        vector: number(*index_vector_dim),
        indices: inputs,
    };
    let (operand, updates) = (r.scene.operand(0), r.scene.operand(inputs + 1));
    // The extents of the updates lie in a slice as one of their cells does, but for dimensions that have one element.
    let sizes: Vec<i64> = (0i64..)
        .zip(numbers.offset(&updates, operand.len()))
        .map(
            |(at, size)| if inserted_window_dims.contains(&at) || input_batching_dims.contains(&at) { 1 } else { size },
        )
        .collect();
    // What is there stays, as something to combine with.
    for output in r.outputs(0) {
        for (result, input) in (0..inputs).flat_map(|result| (0..inputs).map(move |input| (result, input))) {
            r.one(result, &output, input, &output);
        }
    }
    // Whether a slice lies over an element, its start says; but slices of another batch never do.
    let mut batches = r.scene.operand(inputs);
    if numbers.vector < batches.len() {
        batches.remove(numbers.vector);
    }
    for batch in cells(&batches) {
        let start = numbers.start(r, &batch, operand.len());
        for output in r.outputs(0) {
            let mut of_batch = input_batching_dims.iter().map(|&dimension| number(dimension));
            if of_batch.all(|dimension| i128::from(output[dimension]) == start[dimension]) {
                for read in numbers.vector(r, &batch) {
                    (0..inputs).for_each(|result| r.one(result, &output, inputs, &read));
                }
            }
        }
    }
    for cell in cells(&updates) {
        let start = numbers.start(r, &numbers.batch(&cell), operand.len());
        let lies_within = |dimension: usize| {
            start[dimension] >= 0 && start[dimension] + i128::from(sizes[dimension]) <= i128::from(operand[dimension])
        };
        if !(0..operand.len()).all(lies_within) {
            continue;
        }
        let offset = numbers.offset(&cell, operand.len());
        let output: Vec<i64> = start.iter().zip(&offset).map(|(start, offset)| *start as i64 + offset).collect();
        for (result, input) in (0..inputs).flat_map(|result| (0..inputs).map(move |input| (result, input))) {
            r.one(result, &output, inputs + 1 + input, &cell);
        }
    }
}
