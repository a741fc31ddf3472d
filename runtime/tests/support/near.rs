//! Elements of all types, and how near one is to another.

use weft_hlo::ir::{ElementType, FloatFormat, Scalar};
use weft_partition::Form;

/// The types that devices hold.
pub(crate) fn types() -> impl Iterator<Item = ElementType> {
    ElementType::ALL.iter().copied().filter(|&ty| Form::of(ty).is_some())
}

/// The parts of an element as numbers, one or two; `None` of what is no float.
pub(crate) fn numbers(scalar: Scalar) -> Option<Vec<f64>> {
    let ty = scalar.element_type();
    Some(match scalar {
        Scalar::F32(value) => vec![f64::from(value)],
        Scalar::C64(value) => vec![f64::from(value.re), f64::from(value.im)],
        Scalar::F64(value) => vec![value],
        Scalar::C128(value) => vec![value.re, value.im],
        _ => vec![f64::from(FloatFormat::of(ty)?.value(u16::try_from(scalar.bits()).ok()?))],
    })
}

/// Whether the parts of a type's elements have 64 bits.
pub(crate) fn is_double(ty: ElementType) -> bool {
    matches!(ty, ElementType::F64 | ElementType::C128)
}

/// The distance between numbers of a type near a value.
fn ulp(ty: ElementType, value: f64) -> f64 {
    let (mantissa_bits, least) = match FloatFormat::of(ty) {
        Some(format) => (format.mantissa_bits(), 1 - format.bias()),
        None if is_double(ty) => (52, -1022),
        None => (23, -126),
    };
    let exponent = if value == 0.0 { least } else { value.abs().log2().floor() as i32 };
    2f64.powi(exponent.max(least) - mantissa_bits as i32)
}

/// Whether a float is what was expected, to so many units in the last place of the larger part. Subnormal numbers of `f32` may be zeros.
pub(crate) fn is_near(expected: Scalar, actual: Scalar, units: f64) -> bool {
    let (Some(a), Some(b)) = (numbers(expected), numbers(actual)) else { return expected == actual };
    let largest = a.iter().fold(0f64, |largest, part| largest.max(part.abs()));
    let ty = expected.element_type();
    let flushed = if is_double(ty) { 0.0 } else { f64::from(f32::MIN_POSITIVE) };
    let allowed = units * ulp(ty, largest) + flushed;
    // A product of complex numbers that is too large is an infinity or the difference of two. What is positive in a type without zero may be
    // computed as one, and is none then.
    let may_be_nan = |a: f64| {
        (ty.is_complex() && a.is_infinite())
            || (ty == ElementType::F8E8M0Fnu && a.abs() < f64::from(f32::MIN_POSITIVE).sqrt())
    };
    let is_same = |a: f64, b: f64| a == b || b.is_nan() && (a.is_nan() || may_be_nan(a));
    a.iter().zip(&b).all(|(&a, &b)| is_same(a, b) || (a - b).abs() <= allowed)
}
