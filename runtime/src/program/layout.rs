//! How a tensor lies in a device buffer.

use crate::Error;
use std::borrow::Cow;
use weft_hlo::ir::{ArrayShape, Data, Literal, Shape};
use weft_partition::Form;

/// Bytes of a buffer's granularity: WebGPU's strictest offset alignment, so that buffers fit each other's places.
pub(crate) const BUFFER_ALIGNMENT: u64 = 256;

/// Bytes of the words that kernels' windows are told in.
pub(crate) const WORD_BYTES: u64 = 4;

/// Bytes a binding is rounded up to, so that a kernel may read a tensor as vectors of four.
pub(crate) const BINDING_ALIGNMENT: u64 = 16;

/// Bytes of a tensor on the device, row-major whatever its HLO layout, whole words ([`Form`]); `None` for a type without kernels, a
/// dynamic shape, or where the count exceeds `u64`.
pub fn tensor_bytes(shape: &ArrayShape) -> Option<u64> {
    Form::tensor_bytes(shape)
}

/// Bytes to allocate for `bytes` of content: at least one unit, so that an empty tensor can be bound too.
pub(crate) fn buffer_bytes(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(BUFFER_ALIGNMENT)
}

/// Bytes to bind for `bytes` of content.
pub(crate) fn binding_bytes(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(BINDING_ALIGNMENT)
}

/// The bytes a device buffer holds for `literal`, whole words; `None` for values without a form there.
pub(crate) fn encode(literal: &Literal) -> Option<Cow<'_, [u8]>> {
    let shape = literal.shape.as_array()?;
    let is_whole = literal.data.element_type() == Some(shape.element_type);
    encode_bytes(shape, literal.data.as_bytes().filter(|_| is_whole)?)
}

/// Bytes of an array's elements on the host ([`Data::as_bytes`]), one for each of fewer than eight bits.
pub(crate) fn host_bytes(shape: &ArrayShape) -> Option<usize> {
    let form = Form::of(shape.element_type)?;
    let count = shape.element_count().and_then(|count| usize::try_from(count).ok())?;
    count.checked_mul((form.parts() * form.stored_bits()).div_ceil(8) as usize)
}

/// As [`encode`], of elements as the host holds them.
pub(crate) fn encode_bytes<'b>(shape: &ArrayShape, held: &'b [u8]) -> Option<Cow<'b, [u8]>> {
    let form = Form::of(shape.element_type)?;
    if host_bytes(shape) != Some(held.len()) {
        return None;
    }
    let whole = usize::try_from(tensor_bytes(shape)?).ok()?;
    let bits = form.stored_bits();
    if bits >= 8 {
        let mut bytes = Cow::Borrowed(held);
        if bytes.len() < whole {
            bytes.to_mut().resize(whole, 0);
        }
        return Some(bytes);
    }
    // Several in a byte, the first in the lowest bits.
    let per_byte = (8 / bits) as usize;
    let mask = u8::MAX >> (8 - bits);
    let packed = |elements: &[u8]| elements.iter().rev().fold(0, |byte, element| byte << bits | element & mask);
    let mut bytes: Vec<u8> = held.chunks(per_byte).map(packed).collect();
    bytes.resize(whole, 0);
    Some(Cow::Owned(bytes))
}

/// Copies the elements of `shape` that a device buffer's first bytes spell to where the host holds so many bytes of them.
pub(crate) fn decode_into(shape: &ArrayShape, bytes: &[u8], held: &mut [u8]) -> Result<(), Error> {
    let bits = Form::of(shape.element_type).map_or(8, Form::stored_bits);
    if bits >= 8 {
        let used = held.len().min(bytes.len());
        held[..used].copy_from_slice(&bytes[..used]);
        return Ok(());
    }
    // The bits above an element's own are those of its literal: copies of its sign, or zeros.
    let Literal { data, .. } = decode(shape, bytes)?;
    if let Some(elements) = data.as_bytes().filter(|elements| elements.len() == held.len()) {
        held.copy_from_slice(elements);
    }
    Ok(())
}

/// The literal of `shape` that a device buffer's first bytes spell. Any byte but 0 is a true `pred`.
pub(crate) fn decode(shape: &ArrayShape, bytes: &[u8]) -> Result<Literal, Error> {
    let no_form = || Error::NoDeviceForm {
        value: shape.to_string(),
        reason: format!("{} has no form on a device yet", shape.element_type),
    };
    let form = Form::of(shape.element_type).ok_or_else(no_form)?;
    let count = shape.element_count().and_then(|count| usize::try_from(count).ok()).ok_or_else(no_form)?;
    let bits = form.stored_bits();
    let data = if bits >= 8 {
        let used = count * (form.parts() * bits / 8) as usize;
        Data::from_bytes(&bytes[..used.min(bytes.len())], shape.element_type)
    } else {
        let per_byte = 8 / bits;
        let elements = bytes.iter().flat_map(|byte| (0..per_byte).map(move |place| byte >> (place * bits)));
        Data::from_bytes(&elements.take(count).collect::<Vec<u8>>(), shape.element_type)
    };
    Ok(Literal { shape: Shape::Array(shape.clone()), data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_hlo::ir::{ElementType, Scalar};

    #[test]
    fn sizes_are_checked() {
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F32, [2, 3])), Some(24));
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::Pred, [])), Some(4));
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F32, [0, 3])), Some(0));
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F64, [2])), Some(16));
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F32, [i64::MAX, 2])), None);
        assert_eq!(tensor_bytes(&ArrayShape::new(ElementType::F32, [i64::MAX])), None);
        assert_eq!(buffer_bytes(0), Some(256));
        assert_eq!(buffer_bytes(257), Some(512));
        assert_eq!(buffer_bytes(u64::MAX), None);
    }

    #[test]
    fn literals_survive_the_device_form() {
        for &element_type in ElementType::ALL {
            for count in [0, 1, 3, 4, 33] {
                let shape = ArrayShape::new(element_type, [count]);
                let mut data = Data::filled(Scalar::from_bits(0, element_type), count as usize);
                for position in 0..count as usize {
                    data.set(position, Scalar::from_bits(0x5a17 * position as u128, element_type));
                }
                let literal = Literal { shape: Shape::Array(shape.clone()), data };
                let bytes = encode(&literal).map(Cow::into_owned);
                if let (Some(bytes), Some(held)) = (&bytes, literal.data.as_bytes()) {
                    assert_eq!(encode_bytes(&shape, held).as_deref(), Some(bytes.as_slice()));
                    let mut again = vec![0x77; held.len()];
                    assert_eq!(decode_into(&shape, bytes, &mut again), Ok(()));
                    assert_eq!(again, held, "{shape}");
                }
                assert_eq!(bytes.as_ref().map(|bytes| bytes.len() as u64), tensor_bytes(&shape));
                if let Some(bytes) = bytes {
                    assert_eq!(decode(&shape, &bytes), Ok(literal));
                }
            }
        }
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
