//! Element semantics of complex numbers, computed in complex `f64` and rounded once.

use super::function::{of_one, of_two};
use super::wide::complex as wide;
use super::{Binary, Element, Float, Number, Unary};
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, UnaryOp};
use num_complex::{Complex, Complex64};

/// A complex number.
pub(in crate::eval) trait ComplexNumber: Element {
    /// The type of its parts.
    type Part: Float;
    /// The value.
    fn wide(self) -> Complex64;
    /// The number nearest to a value, part by part.
    fn round(value: Complex64) -> Self;
}

impl<F: Float> ComplexNumber for Complex<F>
where
    Complex<F>: Element,
{
    type Part = F;
    #[inline]
    fn wide(self) -> Complex64 {
        Complex::new(self.re.wide(), self.im.wide())
    }
    #[inline]
    fn round(value: Complex64) -> Self {
        Complex { re: F::round(value.re), im: F::round(value.im) }
    }
}

/// The function, computed in pairs of `f64`.
macro_rules! rounded {
    ($f:expr) => {
        of_one!(|z: T| T::round($f(z.wide())))
    };
}

pub(super) fn unary<T: ComplexNumber>(op: UnaryOp) -> Option<Unary<T>> {
    Some(match op {
        UnaryOp::Acos => rounded!(wide::acos),
        UnaryOp::Acosh => rounded!(wide::acosh),
        UnaryOp::Asin => rounded!(wide::asin),
        UnaryOp::Asinh => rounded!(wide::asinh),
        UnaryOp::Atanh => rounded!(wide::atanh),
        UnaryOp::Cbrt => rounded!(wide::cbrt),
        UnaryOp::Cosine => rounded!(wide::cos),
        UnaryOp::Cosh => rounded!(wide::cosh),
        UnaryOp::Exponential => rounded!(wide::exp),
        UnaryOp::ExponentialMinusOne => rounded!(wide::exp_m1),
        UnaryOp::Log => rounded!(wide::ln),
        UnaryOp::LogPlusOne => rounded!(wide::ln_1p),
        UnaryOp::Logistic => rounded!(wide::logistic),
        UnaryOp::Negate => rounded!(|z: Complex64| -z),
        UnaryOp::Rsqrt => rounded!(wide::rsqrt),
        UnaryOp::Sign => rounded!(wide::sign),
        UnaryOp::Sine => rounded!(wide::sin),
        UnaryOp::Sinh => rounded!(wide::sinh),
        UnaryOp::Sqrt => rounded!(wide::sqrt),
        UnaryOp::Tan => rounded!(wide::tan),
        UnaryOp::Tanh => rounded!(wide::tanh),
        _ => return None,
    })
}

pub(super) fn binary<T: ComplexNumber>(op: BinaryOp) -> Option<Binary<T>> {
    Some(match op {
        BinaryOp::Add => of_two!(|a: T, b: T| T::round(a.wide() + b.wide())),
        BinaryOp::Atan2 => of_two!(|a: T, b: T| T::round(wide::atan2_of(a.wide(), b.wide()))),
        BinaryOp::Divide => of_two!(|a: T, b: T| T::round(wide::div(a.wide(), b.wide()))),
        BinaryOp::Multiply => of_two!(|a: T, b: T| T::round(a.wide() * b.wide())),
        BinaryOp::Power => of_two!(|a: T, b: T| T::round(wide::pow(a.wide(), b.wide()))),
        BinaryOp::Subtract => of_two!(|a: T, b: T| T::round(a.wide() - b.wide())),
        BinaryOp::And
        | BinaryOp::Maximum
        | BinaryOp::Minimum
        | BinaryOp::Or
        | BinaryOp::Remainder
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRightArithmetic
        | BinaryOp::ShiftRightLogical
        | BinaryOp::Xor => return None,
    })
}

pub(super) fn relation<T: ComplexNumber>(
    direction: ComparisonDirection,
    _: Option<ComparisonType>,
) -> Option<Binary<T, bool>> {
    Some(match direction {
        ComparisonDirection::Eq => of_two!(|a: T, b: T| a.wide() == b.wide()),
        ComparisonDirection::Ne => of_two!(|a: T, b: T| a.wide() != b.wide()),
        _ => return None,
    })
}

#[inline]
pub(super) fn number<T: ComplexNumber>(a: T) -> Number {
    let z = a.wide();
    Number::Complex(z.re, z.im)
}

#[inline]
pub(super) fn of<T: ComplexNumber>(value: Number) -> T {
    // An integer is rounded once, to the type of the parts.
    let real = match value {
        Number::Integer(integer) => T::Part::round_integer(integer).wide(),
        other => other.real(),
    };
    T::round(Complex::new(real, value.imaginary()))
}
