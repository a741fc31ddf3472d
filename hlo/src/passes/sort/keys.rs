//! Numbers of any type as unsigned ones in the same order.

use super::comparator::Key;
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, FloatFormat, InstrId, Op, Scalar};
use crate::passes::build::Build;
use crate::passes::stable_order::constant;

/// A part of a number.
#[derive(Copy, Clone, Debug)]
pub(super) struct Word {
    /// `u32`, less than 2 to the power of `bits`.
    pub(super) value: InstrId,
    pub(super) bits: u32,
}

/// The bits that words of a key's type have, the most significant word first.
pub(super) fn widths(element_type: ElementType) -> Vec<u32> {
    match element_type {
        ElementType::Pred => vec![1],
        ty if ty.bits() == 64 => vec![32, 32],
        ty if ty.is_float() && unsigned(ty).is_none() => vec![32],
        ty => vec![ty.bits()],
    }
}

/// The words of a key, the most significant first, of an array of its type.
pub(super) fn words(build: &mut dyn Build, value: InstrId, key: &Key) -> Vec<Word> {
    let mut words = ascending(build, value, key.is_total);
    if key.is_descending {
        words.iter_mut().for_each(|word| word.value = complement(build, *word));
    }
    if key.element_type.is_float() && !key.is_total {
        let is_nan = build.compared(ComparisonDirection::Ne, value, value);
        for word in &mut words {
            let last = like(build, word.value, u32::MAX >> (u32::BITS - word.bits));
            word.value = build.selected(is_nan, last, word.value);
        }
    }
    words
}

fn ascending(build: &mut dyn Build, value: InstrId, is_total: bool) -> Vec<Word> {
    let element_type = build.element_type(value);
    let bits = element_type.bits();
    if element_type == ElementType::Pred {
        let value = build.converted(value, ElementType::U32);
        return vec![Word { value, bits: 1 }];
    }
    if element_type.is_float() {
        let Some(own) = unsigned(element_type) else {
            let wide = build.converted(value, ElementType::F32);
            return ascending(build, wide, is_total);
        };
        let patterns = build.like(value, own, Op::BitcastConvert, vec![value]);
        return match element_type {
            ElementType::F64 => wide_float(build, patterns, is_total),
            _ => vec![float(build, patterns, element_type, is_total)],
        };
    }
    let own = unsigned(element_type).unwrap_or(element_type);
    let patterns = match element_type.is_signed() {
        true => build.like(value, own, Op::BitcastConvert, vec![value]),
        false => value,
    };
    let mut words = parts(build, patterns);
    if element_type.is_signed() {
        // What is negative comes first.
        let first = &mut words[0];
        let sign = like(build, first.value, 1 << ((bits - 1) % 32));
        first.value = build.binary(BinaryOp::Xor, first.value, sign);
    }
    words
}

/// The words of unsigned integers.
fn parts(build: &mut dyn Build, patterns: InstrId) -> Vec<Word> {
    let bits = build.element_type(patterns).bits();
    if bits <= 32 {
        let value = build.converted(patterns, ElementType::U32);
        return vec![Word { value, bits }];
    }
    let extents = build.array(patterns).extents.clone();
    let half = constant(build, Scalar::U64(32), extents);
    let high = build.binary(BinaryOp::ShiftRightLogical, patterns, half);
    [high, patterns].map(|part| Word { value: build.converted(part, ElementType::U32), bits: 32 }).to_vec()
}

/// The word of floats of at most 32 bits.
fn float(build: &mut dyn Build, patterns: InstrId, element_type: ElementType, is_total: bool) -> Word {
    let value = build.converted(patterns, ElementType::U32);
    let bits = element_type.bits();
    let format = FloatFormat::of(element_type);
    if format.is_some_and(|format| format.sign() == 0) {
        return Word { value, bits };
    }
    let all = u32::MAX >> (u32::BITS - bits);
    let sign = 1u32 << (bits - 1);
    let [upper, every] = [sign, all].map(|number| like(build, value, number));
    let mut value = value;
    let has_negative_zero = format.is_none_or(FloatFormat::has_negative_zero);
    if !is_total && has_negative_zero {
        let zero = like(build, value, 0);
        let is_negative_zero = build.compared(ComparisonDirection::Eq, value, upper);
        value = build.selected(is_negative_zero, zero, value);
    }
    let is_negative = build.compared(ComparisonDirection::Ge, value, upper);
    let mask = build.selected(is_negative, every, upper);
    let mut word = build.binary(BinaryOp::Xor, value, mask);
    if !has_negative_zero {
        // What would be negative zero is no number, a negative one: it comes before all others.
        let [first, one] = [0, 1].map(|number| like(build, value, number));
        let is_nan = build.compared(ComparisonDirection::Eq, value, upper);
        let later = build.binary(BinaryOp::Add, word, one);
        let negative = build.selected(is_nan, first, later);
        word = build.selected(is_negative, negative, word);
    }
    Word { value: word, bits }
}

/// The words of floats of 64 bits.
fn wide_float(build: &mut dyn Build, patterns: InstrId, is_total: bool) -> Vec<Word> {
    let mut words = parts(build, patterns);
    let [upper, every, zero] = [1 << 31, u32::MAX, 0].map(|number| like(build, patterns, number));
    let sign = words[0].value;
    let mut is_negative = build.compared(ComparisonDirection::Ge, sign, upper);
    if !is_total {
        let is_upper = build.compared(ComparisonDirection::Eq, sign, upper);
        let is_zero = build.compared(ComparisonDirection::Eq, words[1].value, zero);
        let is_negative_zero = build.binary(BinaryOp::And, is_upper, is_zero);
        words[0].value = build.selected(is_negative_zero, zero, sign);
        is_negative = build.compared(ComparisonDirection::Ge, words[0].value, upper);
    }
    for (word, of_positive) in words.iter_mut().zip([upper, zero]) {
        let mask = build.selected(is_negative, every, of_positive);
        word.value = build.binary(BinaryOp::Xor, word.value, mask);
    }
    words
}

/// The number with the order of all turned around.
fn complement(build: &mut dyn Build, word: Word) -> InstrId {
    let all = like(build, word.value, u32::MAX >> (u32::BITS - word.bits));
    build.binary(BinaryOp::Xor, word.value, all)
}

fn like(build: &mut dyn Build, value: InstrId, number: u32) -> InstrId {
    let extents = build.array(value).extents.clone();
    constant(build, Scalar::U32(number), extents)
}

/// The unsigned integer with as many bits.
fn unsigned(element_type: ElementType) -> Option<ElementType> {
    match element_type.bits() {
        1 => Some(ElementType::U1),
        2 => Some(ElementType::U2),
        4 => Some(ElementType::U4),
        8 => Some(ElementType::U8),
        16 => Some(ElementType::U16),
        32 => Some(ElementType::U32),
        64 => Some(ElementType::U64),
        _ => None,
    }
}

/// Whether elements are carried as [words](carried).
pub(super) fn is_carried(element_type: ElementType) -> bool {
    element_type == ElementType::Pred || element_type.bits() <= 32 && unsigned(element_type).is_some()
}

/// The bits of elements as `u32`.
pub(super) fn carried(build: &mut dyn Build, value: InstrId) -> InstrId {
    let element_type = build.element_type(value);
    let patterns = match unsigned(element_type) {
        Some(own) if element_type != ElementType::Pred && element_type != own => {
            build.like(value, own, Op::BitcastConvert, vec![value])
        }
        _ => value,
    };
    build.converted(patterns, ElementType::U32)
}

/// The elements of which these are the bits.
pub(super) fn restored(build: &mut dyn Build, word: InstrId, element_type: ElementType) -> InstrId {
    match unsigned(element_type) {
        Some(own) if element_type != ElementType::Pred => {
            let patterns = build.converted(word, own);
            if own == element_type {
                return patterns;
            }
            build.like(patterns, element_type, Op::BitcastConvert, vec![patterns])
        }
        _ => build.converted(word, element_type),
    }
}
