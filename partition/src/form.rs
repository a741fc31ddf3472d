//! How elements of each type are held on a device: the one table that every stage asks.

use weft_hlo::ir::{ArrayShape, ElementType, FloatFormat, Shape};

/// Bits of a word of a device's memory.
const WORD_BITS: u32 = 32;

/// How the elements of a type are held in registers and in memory.
///
/// Languages of shaders have values of 32 bits, and arrays of those. So
/// - a **wide** element (`s64`, `u64`, `f64`, `c64`) is a pair of registers: the low and the high word, or the real and the imaginary part. In
///   memory the two stand side by side, in this order. An `f64` is its bits: it is a number only for the length of an operation. A `c128` is
///   four words, those of its real part first;
/// - a **packed** element takes less than a word of memory: as many as fit stand in a word, the first in its lowest bits, and rows are
///   not padded, so that memory has the layout of NumPy's arrays on little-endian hosts. A `pred` takes a byte, a float of six bits
///   too. In a register an integer is extended to 32 bits, by its sign if it has one, a `pred` is a truth value, and a float is its bits: moving
///   one moves these, and it is a number only for the length of an operation;
/// - any other element takes one register and one word.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Form {
    register: ElementType,
    parts: u32,
    stored_bits: u32,
}

impl Form {
    /// The form of a type, or `None` where devices hold none of its elements: of `token` and the like.
    pub fn of(element_type: ElementType) -> Option<Form> {
        use ElementType::{C64, C128, F32, F64, Pred, S32, S64, U32, U64};
        let form = |register, parts, stored_bits| Some(Form { register, parts, stored_bits });
        match element_type {
            Pred => form(Pred, 1, 8),
            F32 | S32 | U32 => form(element_type, 1, WORD_BITS),
            F64 | S64 | U64 => form(U32, 2, WORD_BITS),
            C128 => form(U32, 4, WORD_BITS),
            C64 => form(F32, 2, WORD_BITS),
            _ if FloatFormat::of(element_type).is_some() => form(U32, 1, element_type.bits().next_power_of_two()),
            _ if element_type.is_signed() => form(S32, 1, element_type.bits()),
            _ if element_type.is_unsigned() => form(U32, 1, element_type.bits()),
            _ => None,
        }
    }

    /// The type of each register that holds an element, or a part of one: `pred`, `s32`, `u32` or `f32`.
    pub fn register(self) -> ElementType {
        self.register
    }

    /// How many registers an element takes: 1, 2 or 4.
    pub fn parts(self) -> u32 {
        self.parts
    }

    /// Bits of memory that an element takes, or a part of one: a power of two, at most 32.
    pub fn stored_bits(self) -> u32 {
        self.stored_bits
    }

    /// Whether several elements share a word of memory.
    pub fn is_packed(self) -> bool {
        self.stored_bits < WORD_BITS
    }

    /// How many elements a word of memory holds; 1 where an element takes one or more.
    pub fn per_word(self) -> u32 {
        WORD_BITS / self.stored_bits
    }

    /// Bytes of memory for so many elements, whole words; `None` beyond `u64`.
    pub fn bytes(self, elements: u64) -> Option<u64> {
        let words = elements.checked_mul(u64::from(self.parts))?.div_ceil(u64::from(self.per_word()));
        words.checked_mul(u64::from(WORD_BITS / 8))
    }

    /// Bytes of memory for a tensor, row-major whatever its layout; `None` for a type without a form, a dynamic shape, or where they
    /// exceed `u64`.
    pub fn tensor_bytes(shape: &ArrayShape) -> Option<u64> {
        let elements = shape.element_count().filter(|_| shape.dynamic.is_empty())?;
        Form::of(shape.element_type)?.bytes(u64::try_from(elements).ok()?)
    }

    /// Bytes of memory for the arrays of a shape; those that have none on a device count none.
    pub(crate) fn shape_bytes(shape: &Shape) -> u64 {
        let leaves = shape.leaves();
        leaves.iter().filter_map(|leaf| Form::tensor_bytes(leaf.as_array()?)).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_registers_and_the_memory_that_they_need() {
        let form = |ty: ElementType| {
            let form = Form::of(ty).expect("a form");
            (form.register().name(), form.parts(), form.stored_bits())
        };
        assert_eq!(form(ElementType::Pred), ("pred", 1, 8));
        assert_eq!(form(ElementType::S4), ("s32", 1, 4));
        assert_eq!(form(ElementType::U16), ("u32", 1, 16));
        assert_eq!(form(ElementType::F6E2M3Fn), ("u32", 1, 8));
        assert_eq!(form(ElementType::Bf16), ("u32", 1, 16));
        assert_eq!(form(ElementType::U64), ("u32", 2, 32));
        assert_eq!(form(ElementType::C64), ("f32", 2, 32));
        assert_eq!(form(ElementType::F64), ("u32", 2, 32));
        assert_eq!(form(ElementType::C128), ("u32", 4, 32));
    }

    #[test]
    fn packed_elements_take_whole_words_together() {
        let bytes = |ty: ElementType, extents: &[i64]| Form::tensor_bytes(&ArrayShape::new(ty, extents.to_vec()));
        assert_eq!(bytes(ElementType::Pred, &[3]), Some(4));
        assert_eq!(bytes(ElementType::Pred, &[5]), Some(8));
        assert_eq!(bytes(ElementType::S4, &[3, 3]), Some(8));
        assert_eq!(bytes(ElementType::C64, &[3]), Some(24));
        assert_eq!(bytes(ElementType::F32, &[0, 3]), Some(0));
        assert_eq!(bytes(ElementType::F32, &[i64::MAX]), None);
    }
}
