//! `convert`: elements of one type as elements of another.
//!
//! A loop for each pair of types would be a thousand loops. Elements go by way of what lies between any two types instead, a
//! [`Number`] (which is an `f64` where they are floats) or the bits: for each type there is one loop that leads there and one
//! that leads back.

use super::scalar::{Form, Held, Number, elements_of};
use super::work::{Stop, Work, elements, words};
use crate::ir::{Data, ElementType, Word, words_of};

/// How many elements are on their way at a time: few enough for a core's nearest cache.
pub(super) const STRETCH: usize = 256;

/// The elements converted one by one, as `convert` does; `None` where none are held.
///
/// ```
/// use weft_hlo::eval::converted;
/// use weft_hlo::ir::{Data, ElementType};
///
/// let data = Data::from(vec![-1.5f32, f32::NAN, 1e10]);
/// assert_eq!(converted(&data, ElementType::S8), Some(Data::from(vec![-1i8, 0, 127])));
/// ```
pub fn converted(data: &Data, element_type: ElementType) -> Option<Data> {
    if data.element_type()? == element_type {
        return Some(data.clone());
    }
    if is_real(data) {
        Conversion::<f64>::from(data)?.to(element_type)
    } else {
        Conversion::<Number>::from(data)?.to(element_type)
    }
}

/// The elements with these bits, one after the other; `None` where none are held. Bits that the type does not have are passed
/// over, those that the given type does not have are 0.
///
/// ```
/// use half::bf16;
/// use weft_hlo::eval::reinterpreted;
/// use weft_hlo::ir::{Data, ElementType};
///
/// let bits = Data::from(vec![0x3f80u16]);
/// assert_eq!(reinterpreted(&bits, ElementType::Bf16), Some(Data::from(vec![bf16::ONE])));
/// ```
pub fn reinterpreted(data: &Data, element_type: ElementType) -> Option<Data> {
    data.words()?;
    Some(words_of!(Data::no_words(element_type), _, W => {
        let mut values = vec![W::default(); data.len()?];
        retype(data, 0, &mut values, element_type);
        W::data(values, element_type)
    }))
}

/// As [`converted`], for elements that are held.
pub(super) fn convert(work: &Work, data: &Data, element_type: ElementType) -> Result<Data, Stop> {
    if is_real(data) {
        Conversion::<f64>::from(data).expect(HELD).work(work, element_type)
    } else {
        Conversion::<Number>::from(data).expect(HELD).work(work, element_type)
    }
}

/// As [`reinterpreted`], for elements that are held.
pub(super) fn reinterpret(work: &Work, data: &Data, element_type: ElementType) -> Result<Data, Stop> {
    let count = data.len().expect(HELD);
    words_of!(Data::no_words(element_type), _, W => {
        let values = work.fill(count, |start, values: &mut [W]| retype(data, start, values, element_type))?;
        Ok(W::data(values, element_type))
    })
}

/// Puts the bits of the elements from a position on, as elements of another type, where there is room.
fn retype<W: Word>(data: &Data, mut start: usize, values: &mut [W], element_type: ElementType) {
    let mut between = [0; STRETCH];
    for values in values.chunks_mut(STRETCH) {
        let between = &mut between[..values.len()];
        patterns(data, start, between);
        // A `pred` is true unless all bits are 0, also those above a word's.
        if element_type == ElementType::Pred {
            between.iter_mut().for_each(|bits| *bits = u128::from(*bits != 0));
        }
        values.iter_mut().zip(&*between).for_each(|(value, &bits)| *value = W::of_bits(bits));
        start += values.len();
    }
}

/// Puts the bits of the elements from a position on where there is room.
fn patterns(data: &Data, start: usize, between: &mut [u128]) {
    let mask = u128::MAX >> (u128::BITS - data.element_type().expect(HELD).bits());
    words_of!(words(data), words, W => {
        between.iter_mut().zip(&words[start..]).for_each(|(bits, word)| *bits = word.bits() & mask);
    });
}

/// Whether the elements are floats, all of whose values `f64` holds.
fn is_real(data: &Data) -> bool {
    data.element_type().is_some_and(ElementType::is_float)
}

const HELD: &str = "the values of operands are held";

/// Puts the values of the elements from a position on where there is room.
pub(super) type Reals = fn(&Data, usize, &mut [f64]);

/// What reads the values of floats of a type.
pub(super) fn reals(element_type: ElementType) -> Reals {
    elements_of!(element_type, T => |data, start, values| {
        let form = Form::of(data.element_type().expect(HELD));
        T::reals(form, &elements::<T>(data)[start..], values);
    })
}

/// The type by way of which elements of one type become those of another.
trait Intermediate: Copy {
    /// Of no element in particular.
    const ANY: Self;
    /// Of as many elements as there is room for.
    fn read<T: Held>(elements: &[T], form: Form, between: &mut [Self]);
    /// The elements that it leads to.
    fn write<T: Held>(between: &[Self], elements: &mut [T], form: Form);
}

impl Intermediate for Number {
    const ANY: Self = Number::Integer(0);
    fn read<T: Held>(elements: &[T], form: Form, between: &mut [Self]) {
        between.iter_mut().zip(elements).for_each(|(number, element)| *number = element.value(form));
    }
    fn write<T: Held>(between: &[Self], elements: &mut [T], form: Form) {
        elements.iter_mut().zip(between).for_each(|(element, number)| *element = T::nearest(*number, form));
    }
}

/// The value of a float.
impl Intermediate for f64 {
    const ANY: Self = 0.0;
    fn read<T: Held>(elements: &[T], form: Form, between: &mut [Self]) {
        T::reals(form, elements, between);
    }
    fn write<T: Held>(between: &[Self], elements: &mut [T], form: Form) {
        T::of_reals(form, between, elements);
    }
}

/// The conversion of the elements of an array to any type.
struct Conversion<'a, B> {
    data: &'a Data,
    form: Form,
    count: usize,
    /// Puts what lies between where there is room, from the element at a position on.
    read: fn(&Data, usize, Form, &mut [B]),
}

impl<'a, B: Intermediate> Conversion<'a, B> {
    fn from(data: &'a Data) -> Option<Self> {
        let element_type = data.element_type()?;
        let read: fn(&Data, usize, Form, &mut [B]) = elements_of!(element_type, T => |data, start, form, between| {
            B::read::<T>(&elements::<T>(data)[start..], form, between);
        });
        Some(Conversion { data, form: Form::of(element_type), count: data.len()?, read })
    }

    /// All elements, on all cores.
    fn work(&self, work: &Work, element_type: ElementType) -> Result<Data, Stop> {
        let form = Form::of(element_type);
        elements_of!(element_type, T => {
            let values = work.fill(self.count, |start, values: &mut [T]| self.write(start, values, form))?;
            Ok(T::array(values, element_type))
        })
    }

    /// All elements, one after the other.
    fn to(&self, element_type: ElementType) -> Option<Data> {
        let form = Form::of(element_type);
        elements_of!(element_type, T => {
            let mut values = vec![T::default(); self.count];
            self.write(0, &mut values, form);
            Some(T::array(values, element_type))
        })
    }

    fn write<T: Held>(&self, mut start: usize, values: &mut [T], form: Form) {
        let mut between = [B::ANY; STRETCH];
        for values in values.chunks_mut(STRETCH) {
            let between = &mut between[..values.len()];
            (self.read)(self.data, start, self.form, between);
            B::write(between, values, form);
            start += values.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::region::{conversion, reinterpretation};

    /// More elements than are on their way at a time, of all sizes a type has.
    fn some(element_type: ElementType) -> Data {
        let patterns =
            (0..STRETCH as u64 + 77).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(k as u32 % 64));
        reinterpreted(&Data::U64(patterns.collect()), element_type).unwrap()
    }

    #[test]
    fn many_elements_become_what_each_of_them_does() {
        for &from in ElementType::ALL {
            let data = some(from);
            for &to in ElementType::ALL {
                let (converted, reinterpreted) = (converted(&data, to).unwrap(), reinterpreted(&data, to).unwrap());
                let (convert, reinterpret) = (conversion(from, to), reinterpretation(from, to));
                for position in 0..data.len().unwrap() {
                    let element = data.get(position).unwrap();
                    let expected = if from == to { element } else { convert(&[element]) };
                    assert_eq!(converted.get(position), Some(expected), "{from} to {to}: {element:?}");
                    assert_eq!(
                        reinterpreted.get(position),
                        Some(reinterpret(&[element])),
                        "{from} as {to}: {element:?}"
                    );
                }
            }
        }
    }
}
