//! Reductions: sequential, in row-major order of the reduced dimensions, for each element of the result.

use super::call::Call;
use super::movement::{Walk, extents, row_major_strides};
use super::region::of;
use super::scalar::{Element, elements_of};
use super::work::{PIECE, Stop, splat};
use crate::ir::{ArrayShape, BinaryOp, ComputationId, Data, Scalar};

const VERIFIED: &str = "the verifier has seen to the operands and the computation of a reduction";

/// The results, one per input.
pub(super) fn reduce(call: &Call<'_, '_>, dimensions: &[i64], to_apply: ComputationId) -> Result<Vec<Data>, Stop> {
    let folded = Folded::new(dimensions, call.shape(0));
    if let ([_, _], Some(op)) = (&call.operands[..], call.program(to_apply).and_then(|program| program.as_binary())) {
        return Ok(vec![folded.by_operation(call, op)?]);
    }
    folded.by_computation(call, to_apply)
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

    /// How many elements of a result one core makes before it takes up the next piece.
    fn piece(&self) -> usize {
        (PIECE / self.reduced.iter().product::<usize>().max(1)).max(1)
    }

    /// One input, folded by an operation.
    fn by_operation(&self, call: &Call<'_, '_>, op: BinaryOp) -> Result<Data, Stop> {
        elements_of!(call.shape(0).element_type, T => {
            let f = T::binary(op).expect(VERIFIED).one;
            let (input, initial) = (call.elements::<T>(0), call.elements::<T>(1)[0]);
            let count = self.reduced.iter().product();
            Ok(call.work().fill_by(self.results.iter().product(), self.piece(), |start, values| {
                let mut bases = Walk::new(&self.results, &self.result_strides, 0, start);
                for value in values {
                    let mut walk = Walk::new(&self.reduced, &self.reduced_strides, bases.step() as isize, 0);
                    *value = (0..count).fold(initial, |folded, _| f(folded, input[walk.step()]));
                }
            })?.into())
        })
    }

    fn by_computation(&self, call: &Call<'_, '_>, to_apply: ComputationId) -> Result<Vec<Data>, Stop> {
        let inputs = call.operands.len() / 2;
        let initials: Vec<Scalar> = (inputs..2 * inputs).map(|position| scalar(call.data(position), 0)).collect();
        let count = self.results.iter().product::<usize>();
        let mut results = Vec::with_capacity(inputs);
        for &initial in &initials {
            results.push(splat(count, initial)?);
        }
        // A job is where it starts, and its piece of each result.
        let piece = self.piece();
        let mut jobs: Vec<(usize, Vec<&mut [Scalar]>)> =
            (0..count.div_ceil(piece)).map(|job| (job * piece, Vec::with_capacity(inputs))).collect();
        for result in &mut results {
            for (job, part) in jobs.iter_mut().zip(result.chunks_mut(piece)) {
                job.1.push(part);
            }
        }
        call.work().for_each(jobs, &|(start, mut parts): (usize, Vec<&mut [Scalar]>)| {
            let mut region = call.region(to_apply);
            let mut bases = Walk::new(&self.results, &self.result_strides, 0, start);
            let mut arguments = initials.clone();
            arguments.extend_from_slice(&initials);
            for offset in 0..parts[0].len() {
                arguments[..inputs].copy_from_slice(&initials);
                let mut walk = Walk::new(&self.reduced, &self.reduced_strides, bases.step() as isize, 0);
                for _ in 0..self.reduced.iter().product() {
                    let position = walk.step();
                    for input in 0..inputs {
                        arguments[inputs + input] = scalar(call.data(input), position);
                    }
                    let folded = region.apply(&arguments)?;
                    arguments[..inputs].copy_from_slice(folded);
                }
                for (part, &value) in parts.iter_mut().zip(&arguments) {
                    part[offset] = value;
                }
            }
            Ok(())
        })?;
        call.results().into_iter().zip(results).map(|(shape, scalars)| typed(&scalars, shape)).collect()
    }
}

/// The element at a position that there is.
pub(super) fn scalar(data: &Data, position: usize) -> Scalar {
    data.get(position).expect(VERIFIED)
}

/// Scalars of the shape's type as its elements.
pub(super) fn typed(scalars: &[Scalar], shape: &ArrayShape) -> Result<Data, Stop> {
    elements_of!(shape.element_type, T => {
        let mut values = splat(scalars.len(), T::default())?;
        values.iter_mut().zip(scalars).for_each(|(value, &scalar)| *value = of(scalar));
        Ok(values.into())
    })
}
