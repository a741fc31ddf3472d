//! The same bits as elements of another type.

use super::call::Call;
use super::scalar::{Element, elements_of};
use super::work::{Stop, elements};
use crate::ir::Data;

/// Where the types differ in width, elements of the narrower one lie along a last dimension that the wider one does not
/// have; the first of them has the lowest bits.
pub(super) fn convert(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let (from, to) = (call.shape(0).element_type, call.result().element_type);
    let bits = bits(call.data(0));
    let count = usize::try_from(call.result().element_count().unwrap_or(i64::MAX)).unwrap_or(usize::MAX);
    let (narrow, ratio) = (from.bits().min(to.bits()), from.bits().max(to.bits()) / from.bits().min(to.bits()));
    let parts = ratio as usize;
    let pattern = |position: usize| -> u128 {
        if from.bits() >= to.bits() {
            return bits(position / parts) >> (narrow * (position % parts) as u32);
        }
        (0..parts).fold(0, |wide, part| wide | bits(position * parts + part) << (narrow * part as u32))
    };
    elements_of!(to, T => {
        Ok(call.work().fill(count, |start, values: &mut [T]| {
            for (offset, value) in values.iter_mut().enumerate() {
                *value = <T as Element>::from_bits(pattern(start + offset));
            }
        })?.into())
    })
}

/// The bits of the element at a position.
fn bits(data: &Data) -> Box<dyn Fn(usize) -> u128 + Sync + '_> {
    let element_type = data.element_type().expect("the values of operands are held");
    elements_of!(element_type, T => {
        let values = elements::<T>(data);
        Box::new(|position| values[position].bits())
    })
}
