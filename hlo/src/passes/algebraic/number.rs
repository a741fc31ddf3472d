//! Elements as numbers.

pub(super) use crate::eval::{Number, number};

use crate::eval::nearest;
use crate::ir::{ElementType, FloatRange, Scalar};

/// The element that is a small number: integers wrap around, `pred` is true unless it is 0. `None` where the type has no such
/// number.
pub(super) fn element(element_type: ElementType, value: i8) -> Option<Scalar> {
    let element = nearest(Number::Integer(value.into()), element_type);
    let is_it = !element_type.is_float() || number(element) == Number::Real(value.into());
    is_it.then_some(element)
}

/// The least and the greatest number of an integer type; 0 and 1 for `pred`.
pub(super) fn range(element_type: ElementType) -> Option<(i128, i128)> {
    match element_type.bits() {
        _ if element_type == ElementType::Pred => Some((0, 1)),
        bits if element_type.is_signed() => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        bits if element_type.is_unsigned() => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}

/// Whether this is an integer type or `pred`: types in which arithmetic has no rounding and elements no second zero.
pub(super) fn is_discrete(element_type: ElementType) -> bool {
    element_type.is_integer() || element_type == ElementType::Pred
}

/// Whether a float type has a zero with a sign.
pub(super) fn has_negative_zero(element_type: ElementType) -> bool {
    FloatRange::of(element_type).is_none_or(|range| range.has_negative_zero)
}

/// Whether every number of `source` is one of `target`: zeros of both signs, infinities and NaN included.
pub(super) fn contains(target: ElementType, source: ElementType) -> bool {
    if target == source {
        return true;
    }
    if let (Some((low, high)), Some((least, greatest))) = (range(source), range(target)) {
        return target != ElementType::Pred && least <= low && high <= greatest;
    }
    if source.is_complex() {
        return target == ElementType::C128;
    }
    let Some(reals) = FloatRange::of(part(target)).filter(|reals| reals.is_ieee && part(target).bits() >= 16) else {
        return false;
    };
    match (range(source), FloatRange::of(source)) {
        // Integers of so many bits are exact.
        (Some((low, high)), _) => -(2 << reals.mantissa_bits) <= low && high <= 2 << reals.mantissa_bits,
        (None, Some(source)) => {
            source.greatest <= reals.greatest
                && source.least >= reals.least
                && source.mantissa_bits <= reals.mantissa_bits
        }
        (None, None) => false,
    }
}

/// The type of the real part.
fn part(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{F8E5M2Fnuz, F8E8M0Fnu, bf16, f16};

    /// Every element of the types of at most 16 bits goes to the containing type and back.
    #[test]
    fn contained_numbers_come_back() {
        assert!(contains(ElementType::F16, ElementType::F8E5M2Fnuz));
        assert!(!contains(ElementType::F16, ElementType::F8E8M0Fnu));
        assert!(!contains(ElementType::F16, ElementType::Bf16));
        for bits in 0..=u8::MAX {
            let small = f64::from(F8E5M2Fnuz::from_bits(bits).to_f32());
            assert!(small.is_nan() || f16::from_f64(small).to_f64().to_bits() == small.to_bits());
            let scale = f64::from(F8E8M0Fnu::from_bits(bits).to_f32());
            assert!(scale.is_nan() || bf16::from_f64(scale).to_f64().to_bits() == scale.to_bits());
        }
        assert!(contains(ElementType::F32, ElementType::S16) && !contains(ElementType::F32, ElementType::S32));
        assert!(contains(ElementType::Bf16, ElementType::U8) && !contains(ElementType::S8, ElementType::U8));
        assert!(contains(ElementType::S64, ElementType::U32) && !contains(ElementType::Pred, ElementType::U1));
    }

    #[test]
    fn small_numbers_are_made_where_they_exist() {
        assert_eq!(element(ElementType::F8E8M0Fnu, 0), None);
        assert_eq!(element(ElementType::U8, -1), Some(Scalar::U8(255)));
        for &element_type in ElementType::ALL {
            if let Some((low, high)) = range(element_type) {
                assert!(element(element_type, 1).is_some() && low < high, "{element_type}");
            }
        }
    }
}
