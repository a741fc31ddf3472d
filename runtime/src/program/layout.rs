//! How a tensor lies in a device buffer.

use crate::Error;
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Shape};

/// Bytes of a buffer's granularity: WebGPU's strictest offset alignment, so that buffers fit each other's places.
pub(crate) const BUFFER_ALIGNMENT: u64 = 256;

/// Bytes a binding is rounded up to, so that a kernel may read a tensor as vectors of four.
pub(crate) const BINDING_ALIGNMENT: u64 = 16;

/// Bytes of an element of any type that kernels hold.
pub(crate) const WORD_BYTES: u64 = 4;

/// Bytes of one element on the device, or `None` for a type without kernels.
///
/// `pred` takes a whole word, 0 or 1: a `bool` cannot be shared with the host, and bytes of one word cannot be written
/// by different invocations.
pub fn element_bytes(element_type: ElementType) -> Option<u64> {
    match element_type {
        ElementType::Pred | ElementType::S32 | ElementType::U32 | ElementType::F32 => Some(WORD_BYTES),
        _ => None,
    }
}

/// Bytes of a tensor on the device, row-major whatever its HLO layout; `None` for a type without kernels, a dynamic
/// shape, or where the count exceeds `u64`.
pub fn tensor_bytes(shape: &ArrayShape) -> Option<u64> {
    if !shape.dynamic.is_empty() {
        return None;
    }
    let elements = u64::try_from(shape.element_count()?).ok()?;
    elements.checked_mul(element_bytes(shape.element_type)?)
}

/// Bytes to allocate for `bytes` of content: at least one unit, so that an empty tensor can be bound too.
pub(crate) fn buffer_bytes(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(BUFFER_ALIGNMENT)
}

/// Bytes to bind for `bytes` of content.
pub(crate) fn binding_bytes(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(BINDING_ALIGNMENT)
}

/// The bytes a device buffer holds for `literal`; `None` for values without a form there.
pub(crate) fn encode(literal: &Literal) -> Option<std::borrow::Cow<'_, [u8]>> {
    use std::borrow::Cow;
    Some(match &literal.data {
        Data::F32(values) => Cow::Borrowed(bytemuck::cast_slice(values)),
        Data::S32(values) => Cow::Borrowed(bytemuck::cast_slice(values)),
        Data::U32(values) => Cow::Borrowed(bytemuck::cast_slice(values)),
        Data::Pred(values) => {
            Cow::Owned(values.iter().flat_map(|&value| u32::from(value).to_ne_bytes()).collect::<Vec<u8>>())
        }
        _ => return None,
    })
}

/// The literal of `shape` that a device buffer's first bytes spell. Any word but 0 is a true `pred`.
pub(crate) fn decode(shape: &ArrayShape, bytes: &[u8]) -> Result<Literal, Error> {
    let data = match shape.element_type {
        ElementType::F32 => Data::F32(bytemuck::pod_collect_to_vec(bytes)),
        ElementType::S32 => Data::S32(bytemuck::pod_collect_to_vec(bytes)),
        ElementType::U32 => Data::U32(bytemuck::pod_collect_to_vec(bytes)),
        ElementType::Pred => {
            let words: Vec<u32> = bytemuck::pod_collect_to_vec(bytes);
            Data::Pred(words.into_iter().map(|word| word != 0).collect())
        }
        other => {
            return Err(Error::NoDeviceForm {
                value: shape.to_string(),
                reason: format!("{other} has no form on a device yet"),
            });
        }
    };
    Ok(Literal { shape: Shape::Array(shape.clone()), data })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F32, [2, 3])), Some(24));
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::Pred, [])), Some(4));
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F32, [0, 3])), Some(0));
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F64, [2])), None);
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F32, [i64::MAX, 2])), None);
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F32, [i64::MAX])), None);
        assert_eq!(buffer_bytes(0), Some(256));
        assert_eq!(buffer_bytes(257), Some(512));
        assert_eq!(buffer_bytes(u64::MAX), None);
    }

    #[test]
    fn literals_survive_the_device_form() {
        for literal in [
            Literal::array([3], vec![true, false, true]),
            Literal::array([2], vec![f32::NAN, -0.0]),
            Literal::array([1], vec![i32::MIN]),
            Literal::array([0], Vec::<u32>::new()),
        ] {
            let shape = literal.shape.as_array().expect("an array").clone();
            let bytes = encode(&literal).expect("a device form").into_owned();
            assert_eq!(Some(bytes.len() as u64), tensor_bytes(&shape));
            assert_eq!(decode(&shape, &bytes), Ok(literal));
        }
    }
}
