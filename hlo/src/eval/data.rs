//! Elements of one type as elements of another.

use super::scalar::{Element, elements_of};
use super::work::elements;
use crate::ir::{Data, ElementType};

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
    let source = data.element_type()?;
    if source == element_type {
        return Some(data.clone());
    }
    Some(elements_of!(source, T => {
        let values = elements::<T>(data);
        elements_of!(element_type, R => values.iter().map(|value| R::of(value.number())).collect::<Vec<R>>().into())
    }))
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
    let source = data.element_type()?;
    Some(elements_of!(source, T => {
        let values = elements::<T>(data);
        elements_of!(element_type, R => {
            values.iter().map(|value| <R as Element>::from_bits(value.bits())).collect::<Vec<R>>().into()
        })
    }))
}
