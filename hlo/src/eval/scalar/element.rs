//! The types that are computed with, and what is common to all.

use super::number::Number;
use super::{Binary, Unary, complex, float, pred, signed, unsigned};
use crate::ir::*;
use half::{bf16, f16};
use num_complex::Complex;

/// An element of a type that is computed with.
pub(in crate::eval) trait Element: NativeType + Default + PartialEq {
    /// What `op` does to an element, where it gives an element of this type.
    fn unary(op: UnaryOp) -> Option<Unary<Self>>;

    /// What `op` does to two elements.
    fn binary(op: BinaryOp) -> Option<Binary<Self>>;

    /// The relation `compare` tests. Integers are ordered by their own type, whatever `order` says; the verifier sees to it
    /// that the two agree.
    fn relation(direction: ComparisonDirection, order: Option<ComparisonType>) -> Option<Binary<Self, bool>>;

    /// The value.
    fn number(self) -> Number;

    /// The element for a value: integers wrap around, floats are rounded once and saturate as integers, anything but 0 is
    /// true. See [`Number`].
    fn of(value: Number) -> Self;

    /// The element with the type that it has.
    fn scalar(self) -> Scalar;

    /// The element, if it is of this type.
    fn from_scalar(scalar: Scalar) -> Option<Self>;

    /// The bits, the lowest ones of the result; `pred` is 0 or 1.
    fn bits(self) -> u128;

    /// The element with these bits; those above the type's are passed over, and a `pred` is true unless all are 0.
    fn from_bits(bits: u128) -> Self;
}

/// `$body` with `$T` for the native type of an element type.
macro_rules! elements_of {
    ($element_type:expr, $T:ident => $body:expr) => {
        $crate::eval::scalar::elements_of!(@ $element_type, $T, $body;
            Pred bool, S1 $crate::ir::S1, S2 $crate::ir::S2, S4 $crate::ir::S4, S8 i8, S16 i16, S32 i32, S64 i64,
            U1 $crate::ir::U1, U2 $crate::ir::U2, U4 $crate::ir::U4, U8 u8, U16 u16, U32 u32, U64 u64,
            F4E2M1Fn $crate::ir::F4E2M1Fn, F6E2M3Fn $crate::ir::F6E2M3Fn, F6E3M2Fn $crate::ir::F6E3M2Fn,
            F8E3M4 $crate::ir::F8E3M4, F8E4M3 $crate::ir::F8E4M3, F8E4M3B11Fnuz $crate::ir::F8E4M3B11Fnuz,
            F8E4M3Fn $crate::ir::F8E4M3Fn, F8E4M3Fnuz $crate::ir::F8E4M3Fnuz, F8E5M2 $crate::ir::F8E5M2,
            F8E5M2Fnuz $crate::ir::F8E5M2Fnuz, F8E8M0Fnu $crate::ir::F8E8M0Fnu, F16 half::f16, Bf16 half::bf16,
            F32 f32, F64 f64, C64 num_complex::Complex<f32>, C128 num_complex::Complex<f64>)
    };
    (@ $element_type:expr, $T:ident, $body:expr; $($variant:ident $native:ty),*) => {
        match $element_type {
            $($crate::ir::ElementType::$variant => {
                type $T = $native;
                $body
            })*
        }
    };
}

pub(in crate::eval) use elements_of;

macro_rules! elements {
    ($($variant:ident $native:ty, $family:ident, |$value:ident| $bits:expr, |$from:ident| $from_bits:expr;)*) => {$(
        impl Element for $native {
            fn unary(op: UnaryOp) -> Option<Unary<Self>> {
                $family::unary(op)
            }
            fn binary(op: BinaryOp) -> Option<Binary<Self>> {
                $family::binary(op)
            }
            fn relation(direction: ComparisonDirection, order: Option<ComparisonType>) -> Option<Binary<Self, bool>> {
                $family::relation(direction, order)
            }
            #[inline]
            fn number(self) -> Number {
                $family::number(self)
            }
            #[inline]
            fn of(value: Number) -> Self {
                $family::of(value)
            }
            #[inline]
            fn scalar(self) -> Scalar {
                Scalar::$variant(self)
            }
            #[inline]
            fn from_scalar(scalar: Scalar) -> Option<Self> {
                match scalar {
                    Scalar::$variant(value) => Some(value),
                    _ => None,
                }
            }
            #[inline]
            fn bits(self) -> u128 {
                let $value = self;
                $bits as u128
            }
            #[inline]
            fn from_bits($from: u128) -> Self {
                $from_bits
            }
        }
    )*};
}

elements! {
    Pred bool, pred, |a| u8::from(a), |bits| bits != 0;
    S1 S1, signed, |a| a.get() as u8 & 1, |bits| S1::wrapping(bits as i8);
    S2 S2, signed, |a| a.get() as u8 & 3, |bits| S2::wrapping(bits as i8);
    S4 S4, signed, |a| a.get() as u8 & 15, |bits| S4::wrapping(bits as i8);
    S8 i8, signed, |a| a as u8, |bits| bits as i8;
    S16 i16, signed, |a| a as u16, |bits| bits as i16;
    S32 i32, signed, |a| a as u32, |bits| bits as i32;
    S64 i64, signed, |a| a as u64, |bits| bits as i64;
    U1 U1, unsigned, |a| a.get(), |bits| U1::wrapping(bits as u8);
    U2 U2, unsigned, |a| a.get(), |bits| U2::wrapping(bits as u8);
    U4 U4, unsigned, |a| a.get(), |bits| U4::wrapping(bits as u8);
    U8 u8, unsigned, |a| a, |bits| bits as u8;
    U16 u16, unsigned, |a| a, |bits| bits as u16;
    U32 u32, unsigned, |a| a, |bits| bits as u32;
    U64 u64, unsigned, |a| a, |bits| bits as u64;
    F4E2M1Fn F4E2M1Fn, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F6E2M3Fn F6E2M3Fn, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F6E3M2Fn F6E3M2Fn, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F8E3M4 F8E3M4, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F8E4M3 F8E4M3, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F8E4M3B11Fnuz F8E4M3B11Fnuz, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F8E4M3Fn F8E4M3Fn, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F8E4M3Fnuz F8E4M3Fnuz, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F8E5M2 F8E5M2, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F8E5M2Fnuz F8E5M2Fnuz, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F8E8M0Fnu F8E8M0Fnu, float, |a| a.to_bits(), |bits| Self::from_bits(bits as u8);
    F16 f16, float, |a| a.to_bits(), |bits| f16::from_bits(bits as u16);
    Bf16 bf16, float, |a| a.to_bits(), |bits| bf16::from_bits(bits as u16);
    F32 f32, float, |a| a.to_bits(), |bits| f32::from_bits(bits as u32);
    F64 f64, float, |a| a.to_bits(), |bits| f64::from_bits(bits as u64);
    C64 Complex<f32>, complex,
        |a| u64::from(a.re.to_bits()) | u64::from(a.im.to_bits()) << 32,
        |bits| Complex::new(f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
    C128 Complex<f64>, complex,
        |a| u128::from(a.re.to_bits()) | u128::from(a.im.to_bits()) << 64,
        |bits| Complex::new(f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64));
}
