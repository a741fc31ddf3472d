//! Complex numbers, computed in pairs of `f64` and rounded once.

use super::function::{of_one, of_two};
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
    (|$z:ident| $value:expr) => {
        of_one!(|z: T| {
            let $z = z.wide();
            T::round($value)
        })
    };
}

const ONE: Complex64 = Complex::new(1.0, 0.0);

pub(super) fn unary<T: ComplexNumber>(op: UnaryOp) -> Option<Unary<T>> {
    Some(match op {
        UnaryOp::Acos => rounded!(|z| z.acos()),
        UnaryOp::Acosh => rounded!(|z| z.acosh()),
        UnaryOp::Asin => rounded!(|z| z.asin()),
        UnaryOp::Asinh => rounded!(|z| z.asinh()),
        UnaryOp::Atanh => rounded!(|z| z.atanh()),
        UnaryOp::Cbrt => rounded!(|z| z.cbrt()),
        UnaryOp::Cosine => rounded!(|z| z.cos()),
        UnaryOp::Cosh => rounded!(|z| z.cosh()),
        UnaryOp::Exponential => rounded!(|z| z.exp()),
        UnaryOp::ExponentialMinusOne => rounded!(|z| exp_m1(z)),
        UnaryOp::Log => rounded!(|z| z.ln()),
        UnaryOp::LogPlusOne => rounded!(|z| ln_1p(z)),
        UnaryOp::Logistic => rounded!(|z| ONE / (ONE + (-z).exp())),
        UnaryOp::Negate => rounded!(|z| -z),
        UnaryOp::Rsqrt => rounded!(|z| ONE / z.sqrt()),
        // Of length 1 in the same direction; zero is its own sign.
        UnaryOp::Sign => rounded!(|z| if z.norm() == 0.0 { z } else { z / z.norm() }),
        UnaryOp::Sine => rounded!(|z| z.sin()),
        UnaryOp::Sinh => rounded!(|z| z.sinh()),
        UnaryOp::Sqrt => rounded!(|z| z.sqrt()),
        UnaryOp::Tan => rounded!(|z| z.tan()),
        UnaryOp::Tanh => rounded!(|z| z.tanh()),
        UnaryOp::Abs
        | UnaryOp::Ceil
        | UnaryOp::CountLeadingZeros
        | UnaryOp::Erf
        | UnaryOp::Floor
        | UnaryOp::IsFinite
        | UnaryOp::Not
        | UnaryOp::PopulationCount
        | UnaryOp::RoundNearestAfz
        | UnaryOp::RoundNearestEven => return None,
    })
}

/// `exp(x + iy) - 1 = (expm1(x) cos y - 2 sin²(y/2)) + i exp(x) sin y`, which keeps what is small.
fn exp_m1(z: Complex64) -> Complex64 {
    let half = (z.im / 2.0).sin();
    Complex::new(z.re.exp_m1() * z.im.cos() - 2.0 * half * half, z.re.exp() * z.im.sin())
}

/// `ln|1 + z| = ln1p(2x + x² + y²) / 2`, which keeps what is small.
fn ln_1p(z: Complex64) -> Complex64 {
    let length = ONE + z;
    let real = if z.norm() < 0.5 { (2.0 * z.re + z.norm_sqr()).ln_1p() / 2.0 } else { length.norm().ln() };
    Complex::new(real, length.arg())
}

pub(super) fn binary<T: ComplexNumber>(op: BinaryOp) -> Option<Binary<T>> {
    Some(match op {
        BinaryOp::Add => of_two!(|a: T, b: T| T::round(a.wide() + b.wide())),
        BinaryOp::Atan2 => of_two!(|a: T, b: T| T::round(atan2(a.wide(), b.wide()))),
        BinaryOp::Divide => of_two!(|a: T, b: T| T::round(a.wide() / b.wide())),
        BinaryOp::Multiply => of_two!(|a: T, b: T| T::round(a.wide() * b.wide())),
        BinaryOp::Power => of_two!(|a: T, b: T| T::round(power(a.wide(), b.wide()))),
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

/// `-i ln((x + iy) / sqrt(x² + y²))`.
fn atan2(y: Complex64, x: Complex64) -> Complex64 {
    let i = Complex64::i();
    -i * ((x + i * y) / (x * x + y * y).sqrt()).ln()
}

/// `0^0` is 1, other powers of zero with a positive real exponent 0.
fn power(base: Complex64, exponent: Complex64) -> Complex64 {
    match (base.norm() == 0.0, exponent.norm() == 0.0) {
        (_, true) => ONE,
        (true, false) if exponent.re > 0.0 && exponent.im == 0.0 => Complex::default(),
        _ => base.powc(exponent),
    }
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
    T::round(Complex::new(value.real(), value.imaginary()))
}
