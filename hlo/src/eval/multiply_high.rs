//! `multiply-high`: the upper half of a product.

use super::call::Call;
use super::scalar::{Form, Held, Number, elements_of};
use super::work::Stop;
use crate::ir::Data;

/// Of the product in twice the bits of the type, the upper ones; signed types extend their sign first.
pub(super) fn multiply_high(call: &Call<'_, '_>) -> Result<Data, Stop> {
    elements_of!(call.result().element_type, T => {
        let form = Form::of(call.result().element_type);
        let (a, b) = (call.elements::<T>(0), call.elements::<T>(1));
        let values = call.work().fill(a.len(), |start, values: &mut [T]| {
            for (value, (a, b)) in values.iter_mut().zip(a[start..].iter().zip(&b[start..])) {
                *value = upper(*a, *b, form);
            }
        })?;
        Ok(T::array(values, call.result().element_type))
    })
}

fn upper<T: Held>(a: T, b: T, form: Form) -> T {
    let (Number::Integer(a), Number::Integer(b)) = (a.value(form), b.value(form)) else { return T::default() };
    let width = form.element_type().bits();
    // Two of 64 bits without a sign come to up to 128 bits, two with a sign to 127 and the sign.
    if form.element_type().is_unsigned() {
        T::of_pattern((a as u128 * b as u128) >> width, form)
    } else {
        T::of_pattern(((a * b) >> width) as u128, form)
    }
}
