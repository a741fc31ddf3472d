//! Elements as numbers.

use crate::ir::*;

/// What an element is as a number, exactly.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Number {
    /// Of an integer, or 0 or 1 of a `pred`.
    Integer(i128),
    /// Of a float.
    Real(f64),
    /// The real and the imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// Whether it is no number, or a part of it is none.
    pub(super) fn is_nan(self) -> bool {
        match self {
            Number::Integer(_) => false,
            Number::Real(value) => value.is_nan(),
            Number::Complex(real, imaginary) => real.is_nan() || imaginary.is_nan(),
        }
    }

    /// The integer, if it is of an integer or a `pred`.
    pub(super) fn integer(self) -> Option<i128> {
        match self {
            Number::Integer(value) => Some(value),
            _ => None,
        }
    }
}

macro_rules! elements {
    (integers $($integer:ident)*; narrow signed $($signed:ident)*; narrow unsigned $($unsigned:ident)*;
        halves $($half:ident $held:ident)*; small $($small:ident)*) => {
        /// The number that an element is.
        pub(super) fn number(scalar: Scalar) -> Number {
            match scalar {
                Scalar::Pred(value) => Number::Integer(i128::from(value)),
                $(Scalar::$integer(value) => Number::Integer(i128::from(value)),)*
                $(Scalar::$signed(value) => Number::Integer(i128::from(value.get())),)*
                $(Scalar::$unsigned(value) => Number::Integer(i128::from(value.get())),)*
                $(Scalar::$half(value) => Number::Real(value.to_f64()),)*
                $(Scalar::$small(value) => Number::Real(f64::from(value.to_f32())),)*
                Scalar::F32(value) => Number::Real(f64::from(value)),
                Scalar::F64(value) => Number::Real(value),
                Scalar::C64(value) => Number::Complex(f64::from(value.re), f64::from(value.im)),
                Scalar::C128(value) => Number::Complex(value.re, value.im),
            }
        }

        /// The element that is a small number: integers wrap around, `pred` is true unless it is 0. `None` where the type
        /// has no such number.
        pub(super) fn element(element_type: ElementType, value: i8) -> Option<Scalar> {
            Some(match element_type {
                ElementType::Pred => Scalar::Pred(value != 0),
                $(ElementType::$integer => Scalar::$integer(value as _),)*
                $(ElementType::$signed => Scalar::$signed($signed::wrapping(value)),)*
                $(ElementType::$unsigned => Scalar::$unsigned($unsigned::wrapping(value.cast_unsigned())),)*
                $(ElementType::$half => Scalar::$half($held::from_f32(f32::from(value))),)*
                $(ElementType::$small => {
                    let nearest = $small::nearest(f64::from(value))?;
                    if nearest.to_f32() != f32::from(value) {
                        return None;
                    }
                    Scalar::$small(nearest)
                })*
                ElementType::F32 => Scalar::F32(f32::from(value)),
                ElementType::F64 => Scalar::F64(f64::from(value)),
                ElementType::C64 => Scalar::C64(Complex::new(f32::from(value), 0.0)),
                ElementType::C128 => Scalar::C128(Complex::new(f64::from(value), 0.0)),
            })
        }
    };
}

elements! {
    integers S8 S16 S32 S64 U8 U16 U32 U64;
    narrow signed S1 S2 S4;
    narrow unsigned U1 U2 U4;
    halves F16 f16 Bf16 bf16;
    small F4E2M1Fn F6E2M3Fn F6E3M2Fn F8E3M4 F8E4M3 F8E4M3B11Fnuz F8E4M3Fn F8E4M3Fnuz F8E5M2 F8E5M2Fnuz F8E8M0Fnu
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
    !matches!(
        element_type,
        ElementType::F8E4M3B11Fnuz | ElementType::F8E4M3Fnuz | ElementType::F8E5M2Fnuz | ElementType::F8E8M0Fnu
    )
}

/// Whether every number of `source` is one of `target`: zeros of both signs, infinities and NaN included.
pub(super) fn contains(target: ElementType, source: ElementType) -> bool {
    if target == source {
        return true;
    }
    if let Some((low, high)) = range(source) {
        if let Some((least, greatest)) = range(target) {
            return target != ElementType::Pred && least <= low && high <= greatest;
        }
        // Integers of so many bits are exact.
        let exact = match part(target) {
            ElementType::F64 => 53,
            ElementType::F32 => 24,
            ElementType::F16 => 11,
            ElementType::Bf16 => 8,
            _ => return false,
        };
        return -(1 << exact) <= low && high <= 1 << exact;
    }
    if source.is_complex() {
        return target == ElementType::C128;
    }
    let is_small = source.bits() <= 8;
    match part(target) {
        ElementType::F64 => true,
        ElementType::F32 => source != ElementType::F64,
        ElementType::Bf16 => is_small,
        // The least of f8e8m0fnu is 2^-127, of f16 2^-24.
        ElementType::F16 => is_small && source != ElementType::F8E8M0Fnu,
        _ => false,
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
