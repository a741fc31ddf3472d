//! The upper half of a product.

use super::call::Call;
use super::scalar::{Element, Number, elements_of};
use super::work::Stop;
use crate::ir::{Data, NativeType};

/// Of the product in twice the bits of the type, the upper ones; signed types extend their sign first.
pub(super) fn multiply_high(call: &Call<'_, '_>) -> Result<Data, Stop> {
    elements_of!(call.result().element_type, T => {
        let (a, b) = (call.elements::<T>(0), call.elements::<T>(1));
        Ok(call.work().fill(a.len(), |start, values: &mut [T]| {
            for (value, (a, b)) in values.iter_mut().zip(a[start..].iter().zip(&b[start..])) {
                *value = upper(*a, *b);
            }
        })?.into())
    })
}

fn upper<T: Element>(a: T, b: T) -> T {
    let (Number::Integer(a), Number::Integer(b)) = (a.number(), b.number()) else { return T::default() };
    let width = <T as NativeType>::ELEMENT_TYPE.bits();
    // Two of 64 bits without a sign come to up to 128 bits, two with a sign to 127 and the sign.
    if <T as NativeType>::ELEMENT_TYPE.is_unsigned() {
        <T as Element>::from_bits((a as u128 * b as u128) >> width)
    } else {
        <T as Element>::from_bits(((a * b) >> width) as u128)
    }
}
