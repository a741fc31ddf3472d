//! `bitcast-convert`: the bits of the operand as elements of another type.

use super::call::Call;
use super::work::{Stop, Work, words};
use crate::ir::{Data, ElementType, Word, words_of};

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
            // Only its own part makes an element what it is, a `pred` too.
            let part = bits(position / parts) >> (narrow * (position % parts) as u32);
            return part & (u128::MAX >> (u128::BITS - narrow));
        }
        (0..parts).fold(0, |wide, part| wide | bits(position * parts + part) << (narrow * part as u32))
    };
    from_patterns(call.work(), to, count, &pattern)
}

/// The bits of the element at a position.
fn bits(data: &Data) -> Box<dyn Fn(usize) -> u128 + Sync + '_> {
    let element_type = data.element_type().expect("the values of operands are held");
    let mask = u128::MAX >> (u128::BITS - element_type.bits());
    words_of!(words(data), values, W => Box::new(move |position| values[position].bits() & mask))
}

/// An array of `count` elements of a type, each with the bits for its position. Those that the type does not have are passed over.
pub(super) fn from_patterns(
    work: &Work,
    element_type: ElementType,
    count: usize,
    pattern: &(dyn Fn(usize) -> u128 + Sync),
) -> Result<Data, Stop> {
    let is_pred = element_type == ElementType::Pred;
    words_of!(Data::no_words(element_type), _, W => {
        let values = work.fill(count, |start, values: &mut [W]| {
            for (offset, value) in values.iter_mut().enumerate() {
                let bits = pattern(start + offset);
                // A `pred` is true unless all bits are 0, also those above a word's.
                *value = W::of_bits(if is_pred { u128::from(bits != 0) } else { bits });
            }
        })?;
        Ok(W::data(values, element_type))
    })
}
