//! Elements of one type as elements of another.
//!
//! A loop for each pair of types would be a thousand loops. Elements go by way of what lies between any two types instead, a
//! [`Number`] (which is an `f64` where they are floats) or the bits: for each type there is one loop that leads there and one
//! that leads back.

use super::scalar::{Element, Number, each_widely, elements_of};
use super::work::{Stop, Work, elements};
use crate::ir::{Data, ElementType};

/// How many elements are on their way at a time: few enough for a core's nearest cache.
const STRETCH: usize = 256;

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
    if is_real(data) { Way::<f64>::from(data)?.to(element_type) } else { Way::<Number>::from(data)?.to(element_type) }
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
    Way::<u128>::from(data)?.to(element_type)
}

/// As [`converted`], for elements that are held.
pub(super) fn convert(work: &Work, data: &Data, element_type: ElementType) -> Result<Data, Stop> {
    if is_real(data) {
        Way::<f64>::from(data).expect(HELD).work(work, element_type)
    } else {
        Way::<Number>::from(data).expect(HELD).work(work, element_type)
    }
}

/// As [`reinterpreted`], for elements that are held.
pub(super) fn reinterpret(work: &Work, data: &Data, element_type: ElementType) -> Result<Data, Stop> {
    Way::<u128>::from(data).expect(HELD).work(work, element_type)
}

/// Whether the elements are floats, all of whose values `f64` holds.
fn is_real(data: &Data) -> bool {
    data.element_type().is_some_and(ElementType::is_float)
}

const HELD: &str = "the values of operands are held";

/// What lies between two types.
trait Between: Copy {
    /// Of no element in particular.
    const ANY: Self;
    /// Of an element.
    fn of<T: Element>(element: T) -> Self;
    /// The element it leads to.
    fn element<T: Element>(self) -> T;
}

impl Between for Number {
    const ANY: Self = Number::Integer(0);
    #[inline]
    fn of<T: Element>(element: T) -> Self {
        element.number()
    }
    #[inline]
    fn element<T: Element>(self) -> T {
        T::of(self)
    }
}

/// The value of a float.
impl Between for f64 {
    const ANY: Self = 0.0;
    #[inline]
    fn of<T: Element>(element: T) -> Self {
        element.number().real()
    }
    #[inline]
    fn element<T: Element>(self) -> T {
        T::of(Number::Real(self))
    }
}

/// The bits.
impl Between for u128 {
    const ANY: Self = 0;
    #[inline]
    fn of<T: Element>(element: T) -> Self {
        element.bits()
    }
    #[inline]
    fn element<T: Element>(self) -> T {
        <T as Element>::from_bits(self)
    }
}

/// The way from the elements of an array to those of any type.
struct Way<'a, B> {
    data: &'a Data,
    count: usize,
    /// Puts what lies between where there is room, from the element at a position on.
    read: fn(&Data, usize, &mut [B]),
}

impl<'a, B: Between> Way<'a, B> {
    fn from(data: &'a Data) -> Option<Self> {
        let read: fn(&Data, usize, &mut [B]) = elements_of!(data.element_type()?, T => |data, start, between| {
            each_widely(&elements::<T>(data)[start..], between, B::of::<T>);
        });
        Some(Way { data, count: data.len()?, read })
    }

    /// All elements, on all cores.
    fn work(&self, work: &Work, element_type: ElementType) -> Result<Data, Stop> {
        elements_of!(element_type, T => {
            Ok(work.fill(self.count, |start, values: &mut [T]| self.write(start, values))?.into())
        })
    }

    /// All elements, one after the other.
    fn to(&self, element_type: ElementType) -> Option<Data> {
        elements_of!(element_type, T => {
            let mut values = vec![T::default(); self.count];
            self.write(0, &mut values);
            Some(values.into())
        })
    }

    fn write<T: Element>(&self, mut start: usize, values: &mut [T]) {
        let mut between = [B::ANY; STRETCH];
        for values in values.chunks_mut(STRETCH) {
            let between = &mut between[..values.len()];
            (self.read)(self.data, start, between);
            each_widely(between, values, B::element);
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
