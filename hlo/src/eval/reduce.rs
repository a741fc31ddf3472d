//! Reductions: sequential, in row-major order of the reduced dimensions, for each element of the result.

use super::call::Call;
use super::fold::{Groups, fold};
use super::movement::{Walk, extents, row_major_strides};
use super::work::Stop;
use crate::ir::{ArrayShape, ComputationId, Data};

/// The results, one per input.
pub(super) fn reduce(call: &Call<'_, '_>, dimensions: &[i64], to_apply: ComputationId) -> Result<Vec<Data>, Stop> {
    fold(call, &Folded::new(dimensions, call.shape(0)), to_apply)
}

/// The dimensions of an operand, those that remain and those that disappear.
struct Folded {
    results: Vec<usize>,
    result_strides: Vec<isize>,
    reduced: Vec<usize>,
    reduced_strides: Vec<isize>,
}

impl Folded {
    fn new(dimensions: &[i64], shape: &ArrayShape) -> Self {
        // Extents as they are, also beside a 0: a result may have elements that no element is folded into.
        let true_extents: Vec<usize> =
            shape.extents.iter().map(|&extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect();
        let strides = row_major_strides(&extents(shape));
        let mut folded = Folded { results: vec![], result_strides: vec![], reduced: vec![], reduced_strides: vec![] };
        for (dimension, (extent, stride)) in true_extents.into_iter().zip(strides).enumerate() {
            if dimensions.contains(&(dimension as i64)) {
                folded.reduced.push(extent);
                folded.reduced_strides.push(stride);
            } else {
                folded.results.push(extent);
                folded.result_strides.push(stride);
            }
        }
        // Where nothing is to be computed or folded, the other extents may be too large to be multiplied.
        if folded.results.contains(&0) {
            folded.results.fill(0);
            folded.reduced.fill(0);
        } else if folded.reduced.contains(&0) {
            folded.reduced.fill(0);
        }
        folded
    }
}

impl Groups for Folded {
    fn count(&self) -> usize {
        self.results.iter().product()
    }

    fn size(&self) -> usize {
        self.reduced.iter().product()
    }

    fn visit(&self, number: usize, mut member: impl FnMut(usize) -> Result<(), Stop>) -> Result<(), Stop> {
        let (mut rest, mut base) = (number, 0);
        for (&extent, stride) in self.results.iter().zip(&self.result_strides).rev() {
            base += (rest % extent) as isize * stride;
            rest /= extent;
        }
        let (Some((&length, outer)), Some((stride, strides))) =
            (self.reduced.split_last(), self.reduced_strides.split_last())
        else {
            return member(base as usize);
        };
        let mut walk = Walk::new(outer, strides, base, 0);
        for _ in 0..outer.iter().product() {
            let first = walk.step() as isize;
            (0..length as isize).try_for_each(|index| member((first + index * stride) as usize))?;
        }
        Ok(())
    }
}
