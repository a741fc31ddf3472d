//! `gather`: slices of the operand at start indices.

use super::call::Call;
use super::dynamic_slice::clamped;
use super::movement::{Walk, extents, row_major_strides};
use super::product::{bytes_of, reader};
use super::work::{Stop, words, zeroed};
use crate::ir::{Data, Op, Word, words_of};

const VERIFIED: &str = "the verifier has seen to the dimension numbers of gather";

pub(super) fn gather(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let (Op::Gather { slice_sizes, .. }, Some(dimensions)) = (call.op(), call.op().gather_dimensions()) else {
        unreachable!("{VERIFIED}")
    };
    let work = call.work();
    let results = extents(call.result());
    let count: usize = results.iter().product();
    if count == 0 || slice_sizes.contains(&0) {
        // Of a slice without elements a result may still have some, where the dimension is dropped: XLA gives zeros.
        return zeroed(count, call.result().element_type);
    }
    let (operand, strides) = (extents(call.shape(0)), row_major_strides(&extents(call.shape(0))));

    // The dimensions of the indices without that of the index vector, which may have extent 0 where nothing is mapped.
    let indices = call.shape(1);
    let batch: Vec<usize> = dimensions.index_batch(indices.rank()).collect();
    let batch_extents: Vec<usize> = batch.iter().map(|&dimension| indices.extents[dimension] as usize).collect();
    let index_strides = row_major_strides(&extents(indices));
    let vectors: Vec<isize> = batch.iter().map(|&dimension| index_strides[dimension]).collect();
    let component = index_strides.get(dimensions.index_vector as usize).copied().unwrap_or(0) as usize;
    let mut corners = vec![0; batch.len()];
    for (to, from) in dimensions.shared_batch() {
        if let Some(at) = batch.iter().position(|&dimension| dimension == from) {
            corners[at] = strides[to];
        }
    }

    // Where each slice begins.
    let slices = batch_extents.iter().product();
    let _bytes = work.reserve(bytes_of::<usize>(slices))?;
    let read = reader(indices.element_type);
    let starts: Vec<usize> = work.fill(slices, |first, starts| {
        let mut vectors = Walk::new(&batch_extents, &vectors, 0, first);
        let mut corners = Walk::new(&batch_extents, &corners, 0, first);
        for start in starts {
            let (vector, mut corner) = (vectors.step(), corners.step());
            for (number, &dimension) in dimensions.index_map.iter().enumerate() {
                let dimension = dimension as usize;
                let last = operand[dimension] - slice_sizes[dimension] as usize;
                let value = read(call.data(1), vector + number * component);
                corner += clamped(value, last) * strides[dimension] as usize;
            }
            *start = corner;
        }
    })?;

    // A result's index says which slice, and where in it.
    let (mut which, mut within) = (vec![0; results.len()], vec![0; results.len()]);
    for (dimension, own) in dimensions.along(operand.len(), results.len()).enumerate() {
        if let Some(own) = own {
            within[own] = strides[dimension];
        }
    }
    for (own, stride) in dimensions.window_batch(results.len()).zip(row_major_strides(&batch_extents)) {
        which[own] = stride;
    }
    words_of!(words(call.data(0)), elements, W => {
        let values = work.fill(count, |first, values: &mut [W]| {
            let (mut which, mut within) = (Walk::new(&results, &which, 0, first), Walk::new(&results, &within, 0, first));
            for value in values {
                *value = elements[starts[which.step()] + within.step()];
            }
        })?;
        Ok(W::data(values, call.result().element_type))
    })
}
