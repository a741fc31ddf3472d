//! `map`: a computation of scalars, applied to the elements at each position.

use super::call::Call;
use super::elementwise;
use super::fold::scalar;
use super::movement::extents;
use super::scalar::{Held, elements_of};
use super::work::{PIECE, Stop};
use crate::ir::{ComputationId, Data, Scalar};

pub(super) fn map(call: &Call<'_, '_>, to_apply: ComputationId) -> Result<Data, Stop> {
    if let Some(op) = call.program(to_apply).and_then(|program| program.as_binary()) {
        return elementwise::binary(call, op);
    }
    let count = extents(call.result()).iter().product();
    elements_of!(call.result().element_type, T => {
        let values = call.work().try_fill_by(count, PIECE, |start, values: &mut [T]| {
            let mut region = call.region(to_apply);
            let mut arguments: Vec<Scalar> = Vec::with_capacity(call.operands.len());
            for (offset, value) in values.iter_mut().enumerate() {
                arguments.clear();
                arguments.extend(call.operands.iter().map(|(_, data)| scalar(data, start + offset)));
                *value = T::of_scalar(region.apply(&arguments)?[0]);
            }
            Ok(())
        })?;
        Ok(T::array(values, call.result().element_type))
    })
}
