//! Sequential folds: each element of the results combines its elements of the inputs, one after the other.

use super::call::Call;
use super::scalar::{Form, Held, elements_of};
use super::work::{PIECE, Stop, splat};
use crate::ir::{ArrayShape, BinaryOp, ComputationId, Data, Scalar};

const VERIFIED: &str = "the verifier has seen to the operands and the computation of a reduction";

/// Which elements of an input are folded into each element of a result.
pub(super) trait Groups: Sync {
    /// How many elements a result has.
    fn count(&self) -> usize;

    /// About how many elements of an input are folded into one of a result.
    fn size(&self) -> usize;

    /// Visits the positions of those that are folded into the element with this row-major number, in order.
    fn visit(&self, number: usize, member: impl FnMut(usize) -> Result<(), Stop>) -> Result<(), Stop>;

    /// Whether those that are folded into the element with this number, which is not the first, are those of the element before it and then others, so that its
    /// value goes on from there: `visit_further` visits these others.
    fn goes_on(&self, _number: usize) -> bool {
        false
    }

    /// Visits what [`goes_on`](Self::goes_on) tells of.
    fn visit_further(&self, number: usize, member: impl FnMut(usize) -> Result<(), Stop>) -> Result<(), Stop> {
        self.visit(number, member)
    }
}

/// The results, one per input, for `N` inputs and `N` initial values.
pub(super) fn fold(call: &Call<'_, '_>, groups: &impl Groups, to_apply: ComputationId) -> Result<Vec<Data>, Stop> {
    if let ([_, _], Some(op)) = (&call.operands[..], call.program(to_apply).and_then(|program| program.as_binary())) {
        return Ok(vec![by_operation(call, groups, op)?]);
    }
    by_computation(call, groups, to_apply)
}

/// How many elements of a result one core makes before it takes up the next piece.
fn piece(groups: &impl Groups) -> usize {
    (PIECE / groups.size().max(1)).max(1)
}

/// One input, folded by an operation.
fn by_operation(call: &Call<'_, '_>, groups: &impl Groups, op: BinaryOp) -> Result<Data, Stop> {
    elements_of!(call.shape(0).element_type, T => {
        let f = T::binary(op, Form::of(call.shape(0).element_type)).expect(VERIFIED);
        let (input, initial) = (call.elements::<T>(0), call.elements::<T>(1)[0]);
        let values = call.work().try_fill_by(groups.count(), piece(groups), |start, values: &mut [T]| {
            let mut folded = initial;
            for (offset, value) in values.iter_mut().enumerate() {
                if offset > 0 && groups.goes_on(start + offset) {
                    groups.visit_further(start + offset, |position| {
                        folded = f.one(folded, input[position]);
                        Ok(())
                    })?;
                } else {
                    folded = initial;
                    groups.visit(start + offset, |position| {
                        folded = f.one(folded, input[position]);
                        Ok(())
                    })?;
                }
                *value = folded;
            }
            Ok(())
        })?;
        Ok(T::array(values, call.shape(0).element_type))
    })
}

fn by_computation(call: &Call<'_, '_>, groups: &impl Groups, to_apply: ComputationId) -> Result<Vec<Data>, Stop> {
    let inputs = call.operands.len() / 2;
    let initials: Vec<Scalar> = (inputs..2 * inputs).map(|position| scalar(call.data(position), 0)).collect();
    let (count, piece) = (groups.count(), piece(groups));
    let _scratch = call.work().reserve_for::<Scalar>(count.checked_mul(inputs).ok_or(Stop::OutOfMemory)?)?;
    let mut results = Vec::with_capacity(inputs);
    for &initial in &initials {
        results.push(splat(count, initial)?);
    }
    // A job is where it starts, and its piece of each result.
    let mut jobs: Vec<(usize, Vec<&mut [Scalar]>)> =
        (0..count.div_ceil(piece)).map(|job| (job * piece, Vec::with_capacity(inputs))).collect();
    for result in &mut results {
        for (job, part) in jobs.iter_mut().zip(result.chunks_mut(piece)) {
            job.1.push(part);
        }
    }
    call.work().for_each(jobs, &|(start, mut parts): (usize, Vec<&mut [Scalar]>)| {
        let mut region = call.region(to_apply);
        let mut arguments = initials.clone();
        arguments.extend_from_slice(&initials);
        for offset in 0..parts[0].len() {
            let goes_on = offset > 0 && groups.goes_on(start + offset);
            if !goes_on {
                arguments[..inputs].copy_from_slice(&initials);
            }
            let member = |position| {
                call.work().go_on()?;
                for input in 0..inputs {
                    arguments[inputs + input] = scalar(call.data(input), position);
                }
                let folded = region.apply(&arguments)?;
                arguments[..inputs].copy_from_slice(folded);
                Ok(())
            };
            match goes_on {
                true => groups.visit_further(start + offset, member)?,
                false => groups.visit(start + offset, member)?,
            }
            for (part, &value) in parts.iter_mut().zip(&arguments) {
                part[offset] = value;
            }
        }
        Ok(())
    })?;
    call.results().into_iter().zip(results).map(|(shape, scalars)| typed(&scalars, shape)).collect()
}

/// The element at a position that there is.
pub(super) fn scalar(data: &Data, position: usize) -> Scalar {
    data.get(position).expect(VERIFIED)
}

/// Scalars of the shape's type as its elements.
pub(super) fn typed(scalars: &[Scalar], shape: &ArrayShape) -> Result<Data, Stop> {
    elements_of!(shape.element_type, T => {
        let mut values = splat(scalars.len(), T::default())?;
        values.iter_mut().zip(scalars).for_each(|(value, &scalar)| *value = T::of_scalar(scalar));
        Ok(T::array(values, shape.element_type))
    })
}
