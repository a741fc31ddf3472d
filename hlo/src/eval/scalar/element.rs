//! The element types with loops of their own, and the trait they share.

use super::number::Number;
use super::{Binary, Unary, complex, float, pred, signed, unsigned};
use crate::ir::*;
use num_complex::Complex;

/// An element of a type that has loops of its own: `pred` and the types of 32 bits and more. See [`Held`](super::Held) for the others.
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
    S32 i32, signed, |a| a as u32, |bits| bits as i32;
    S64 i64, signed, |a| a as u64, |bits| bits as i64;
    U32 u32, unsigned, |a| a, |bits| bits as u32;
    U64 u64, unsigned, |a| a, |bits| bits as u64;
    F32 f32, float, |a| a.to_bits(), |bits| f32::from_bits(bits as u32);
    F64 f64, float, |a| a.to_bits(), |bits| f64::from_bits(bits as u64);
    C64 Complex<f32>, complex,
        |a| u64::from(a.re.to_bits()) | u64::from(a.im.to_bits()) << 32,
        |bits| Complex::new(f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
    C128 Complex<f64>, complex,
        |a| u128::from(a.re.to_bits()) | u128::from(a.im.to_bits()) << 64,
        |bits| Complex::new(f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64));
}
