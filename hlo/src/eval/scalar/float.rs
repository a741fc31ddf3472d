//! Element semantics of floating-point numbers.
//!
//! Each operation is computed in `f64` and rounded once, which leaves sums, products, quotients and square roots of
//! narrower types correctly rounded (53 bits are at least twice the 24 of `f32` and two more) and transcendental functions
//! of them within one unit in the last place. Those of `f64` itself are [`wide`]'s. None is the system library's: the bits of
//! results are to be the same on every machine.

use super::function::{Mapping, STRETCH, each_pair_widely, each_widely, of_one, of_one_widely, of_two};
use super::{Binary, Element, Form, Number, Unary, circular, exponential, logarithm, wide};
use crate::ir::*;

/// A floating-point number.
pub(in crate::eval) trait Float: Element {
    /// The function of one number that an operation is.
    fn function(op: UnaryOp) -> Option<Unary<Self>>;
    /// The function of two numbers that an operation is.
    fn function_of_two(op: BinaryOp) -> Option<Binary<Self>>;
    /// The value.
    fn wide(self) -> f64;
    /// The number nearest to a value, ties to even. What is too large is an infinity, where there is none a NaN, and where
    /// there is none either the greatest number.
    fn round(value: f64) -> Self;
    /// The integer nearest to a value, rounded once.
    fn round_integer(value: i128) -> Self;
    /// The sum.
    #[inline]
    fn plus(self, other: Self) -> Self {
        Self::round(self.wide() + other.wide())
    }
    /// The difference.
    #[inline]
    fn minus(self, other: Self) -> Self {
        Self::round(self.wide() - other.wide())
    }
    /// The product.
    #[inline]
    fn times(self, other: Self) -> Self {
        Self::round(self.wide() * other.wide())
    }
    /// The quotient.
    #[inline]
    fn over(self, other: Self) -> Self {
        Self::round(self.wide() / other.wide())
    }
}

impl Float for f64 {
    fn function(op: UnaryOp) -> Option<Unary<Self>> {
        match op {
            UnaryOp::Cbrt => Some(of_one!(|x: f64| libm::cbrt(x))),
            op => exact(op).or_else(|| wide::unary(op)),
        }
    }
    fn function_of_two(op: BinaryOp) -> Option<Binary<Self>> {
        extremum(op).or_else(|| arithmetic(op)).or_else(|| wide::binary(op))
    }
    #[inline]
    fn wide(self) -> f64 {
        self
    }
    #[inline]
    fn round(value: f64) -> Self {
        value
    }
    #[inline]
    fn round_integer(value: i128) -> Self {
        value as f64
    }
}

impl Float for f32 {
    fn function(op: UnaryOp) -> Option<Unary<Self>> {
        exact(op).or_else(|| Some(near(op)?.through(WIDEN, NARROW)))
    }
    fn function_of_two(op: BinaryOp) -> Option<Binary<Self>> {
        match op {
            BinaryOp::Power => Some(Binary::new(power, powers)),
            op => extremum(op).or_else(|| arithmetic(op)).or_else(|| Some(near_of_two(op)?.through(WIDEN, NARROW))),
        }
    }
    #[inline]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn round(value: f64) -> Self {
        value as f32
    }
    #[inline]
    fn round_integer(value: i128) -> Self {
        value as f32
    }
    // As computing in `f64` would give them, in fewer instructions.
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline]
    fn minus(self, other: Self) -> Self {
        self - other
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }
    #[inline]
    fn over(self, other: Self) -> Self {
        self / other
    }
}

/// From `f32` to `f64`.
const WIDEN: Mapping<f32, f64> = Mapping {
    form: Form::OWN,
    one: |_, value| f64::from(value),
    many: |_, values, results| each_widely(values, results, f64::from),
};

/// And back.
const NARROW: Mapping<f64, f32> = Mapping {
    form: Form::OWN,
    one: |_, value| value as f32,
    many: |_, values, results| each_widely(values, results, |value| value as f32),
};

/// `f64` has more than twice the bits of an integer that these formats can tell from its neighbors, so rounding to odd
/// first and then to nearest is rounding once.
pub(super) fn to_odd(value: i128) -> f64 {
    let rounded = value as f64;
    // Integers from 2^53 on are rounded; 2^64 at most, the difference is exact.
    let rest = value - rounded as i128;
    let even = rounded.to_bits() & 1 == 0;
    match (rest.signum() * value.signum(), even) {
        (0, _) | (_, false) => rounded,
        (1, true) => f64::from_bits(rounded.to_bits() + 1),
        _ => f64::from_bits(rounded.to_bits() - 1),
    }
}

/// Rounds to odd: what is not an `f32` becomes, of the two about it, the one with the odd pattern. Rounded to nearest in a
/// format with less than half the bits, it is `value` rounded once.
///
/// `half` itself passes over the lowest 32 bits of an `f64`, or rounds it twice where processors convert `f32` only.
#[inline]
pub(super) fn to_odd_single(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    // Patterns are ordered as magnitudes are, those of infinities above all others.
    let away = back.abs() < value.abs();
    f32::from_bits(if away { nearest.to_bits() + 1 } else { nearest.to_bits() - 1 })
}

/// The bits of the number of a small format nearest to a value; see [`Float::round`].
pub(super) fn round_small(format: FloatFormat, value: f64) -> u16 {
    format.nearest(value).unwrap_or_else(|| {
        let negative = value.is_sign_negative();
        let infinity = if value.is_nan() { None } else { format.infinity(negative) };
        // A format without infinity and NaN has a number nearest to any other, but for those: then the greatest is for infinity,
        // and a NaN is what XLA's conversion leaves, negative zero.
        match infinity.or_else(|| format.nan(negative)) {
            Some(bits) => bits,
            None if value.is_nan() => format.nearest(-0.0).unwrap_or_default(),
            None => format.nearest(f64::MAX.copysign(value)).unwrap_or_default(),
        }
    })
}

/// Operations that are exact, or in `f64` as good as exact.
pub(super) fn exact<T: Float>(op: UnaryOp) -> Option<Unary<T>> {
    /// The function, computed in `f64`.
    macro_rules! rounded {
        ($of_one:ident, |$x:ident| $value:expr) => {
            $of_one!(|x: T| {
                let $x = x.wide();
                T::round($value)
            })
        };
    }
    Some(match op {
        UnaryOp::Abs => rounded!(of_one, |x| x.abs()),
        UnaryOp::Ceil => rounded!(of_one_widely, |x| x.ceil()),
        UnaryOp::Erf => rounded!(of_one, |x| libm::erf(x)),
        UnaryOp::Floor => rounded!(of_one_widely, |x| x.floor()),
        UnaryOp::Negate => rounded!(of_one, |x| -x),
        UnaryOp::RoundNearestAfz => rounded!(of_one_widely, |x| x.round()),
        UnaryOp::RoundNearestEven => rounded!(of_one_widely, |x| x.round_ties_even()),
        UnaryOp::Rsqrt => rounded!(of_one_widely, |x| 1.0 / x.sqrt()),
        // The sign of a zero is that zero, of a NaN that NaN.
        UnaryOp::Sign => rounded!(of_one, |x| if x == 0.0 || x.is_nan() { x } else { 1f64.copysign(x) }),
        UnaryOp::Sqrt => rounded!(of_one_widely, |x| x.sqrt()),
        _ => return None,
    })
}

/// Functions in `f64` whose results are to be rounded to at most 24 bits; see [`narrow`](super::narrow).
pub(super) fn near(op: UnaryOp) -> Option<Unary<f64>> {
    Some(match op {
        UnaryOp::Acos => of_one!(|x: f64| libm::acos(x)),
        // libm's is no number below 1 only where nothing cancels.
        UnaryOp::Acosh => of_one!(|x: f64| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
        UnaryOp::Asin => of_one!(|x: f64| libm::asin(x)),
        UnaryOp::Asinh => of_one!(|x: f64| libm::asinh(x)),
        UnaryOp::Atanh => of_one!(|x: f64| libm::atanh(x)),
        UnaryOp::Cbrt => of_one_widely!(exponential::cbrt),
        UnaryOp::Cosine => of_one_widely!(circular::is_near, circular::cos, wide::cos),
        UnaryOp::Cosh => of_one!(|x: f64| libm::cosh(x)),
        UnaryOp::Exponential => of_one_widely!(exponential::exp),
        UnaryOp::ExponentialMinusOne => of_one_widely!(exponential::exp_m1),
        UnaryOp::Log => of_one_widely!(logarithm::ln),
        UnaryOp::LogPlusOne => of_one_widely!(logarithm::ln_1p),
        UnaryOp::Logistic => of_one_widely!(|x: f64| 1.0 / (1.0 + exponential::exp(-x))),
        UnaryOp::Sine => of_one_widely!(circular::is_near, circular::sin, wide::sin),
        UnaryOp::Sinh => of_one!(|x: f64| libm::sinh(x)),
        UnaryOp::Tan => of_one_widely!(circular::is_near, circular::tan, wide::tan),
        UnaryOp::Tanh => of_one_widely!(exponential::tanh),
        _ => return None,
    })
}

/// What leaves one of two numbers: no bit of a NaN is lost.
fn extremum<T: Float>(op: BinaryOp) -> Option<Binary<T>> {
    match op {
        BinaryOp::Maximum => Some(of_two!(|a: T, b: T| if is_maximum(a.wide(), b.wide()) { a } else { b })),
        BinaryOp::Minimum => Some(of_two!(|a: T, b: T| if is_minimum(a.wide(), b.wide()) { a } else { b })),
        _ => None,
    }
}

/// Operations whose results in `f64`, rounded once more, are those of a narrower type.
pub(super) fn arithmetic<T: Float>(op: BinaryOp) -> Option<Binary<T>> {
    Some(match op {
        BinaryOp::Add => of_two!(|a: T, b: T| a.plus(b)),
        BinaryOp::Divide => of_two!(|a: T, b: T| a.over(b)),
        BinaryOp::Multiply => of_two!(|a: T, b: T| a.times(b)),
        // C's fmod: exact, with the sign of the dividend.
        BinaryOp::Remainder => of_two!(|a: T, b: T| T::round(a.wide() % b.wide())),
        BinaryOp::Subtract => of_two!(|a: T, b: T| a.minus(b)),
        _ => return None,
    })
}

/// As [`near`], of two numbers.
pub(super) fn near_of_two(op: BinaryOp) -> Option<Binary<f64>> {
    Some(match op {
        BinaryOp::Atan2 => {
            Binary::new(circular::atan2, |a, b, results| each_pair_widely(a, b, results, circular::atan2))
        }
        BinaryOp::Power => of_two!(|a: f64, b: f64| wide::pow(a, b)),
        _ => return None,
    })
}

pub(super) fn unary<T: Float>(op: UnaryOp) -> Option<Unary<T>> {
    T::function(op)
}

pub(super) fn binary<T: Float>(op: BinaryOp) -> Option<Binary<T>> {
    T::function_of_two(op)
}

pub(super) fn relation<T: Float>(
    direction: ComparisonDirection,
    order: Option<ComparisonType>,
) -> Option<Binary<T, bool>> {
    Some(ordered(direction, order))
}

pub(super) fn ordered<T: Float>(direction: ComparisonDirection, order: Option<ComparisonType>) -> Binary<T, bool> {
    match order {
        Some(ComparisonType::TotalOrder) => total_order(direction),
        _ => by_value(direction),
    }
}

/// The relative error of a power whose base is narrow, as an exponential of a logarithm: below 2^-42.
const POWER_ERROR: f64 = 1.0 / 4_398_046_511_104.0;

/// The powers that are far from where the exponential function stops: those of zeros and infinities and NaNs are not among them.
const POWERS: std::ops::RangeInclusive<f64> = 1e-60..=1e50;

fn power(a: f32, b: f32) -> f32 {
    wide::pow(a.into(), b.into()) as f32
}

/// The same of many, by numbers that are computed in vectors and need not be exact: whatever is as near to them as the power is must
/// be rounded to one number, as Ziv has it ("Fast evaluation of elementary mathematical functions with correctly rounded last bit",
/// 1991). Where it is not, and outside of [`POWERS`], the power itself is computed.
fn powers(a: &[f32], b: &[f32], results: &mut [f32]) {
    let (mut logarithms, mut near, mut most) = ([0.0; STRETCH], [0.0; STRETCH], [0.0; STRETCH]);
    let stretches = a.chunks(STRETCH).zip(b.chunks(STRETCH)).zip(results.chunks_mut(STRETCH));
    for ((a, b), results) in stretches {
        each_widely(a, &mut logarithms, |a| logarithm::ln(a.wide()));
        each_pair_widely(b, &logarithms, &mut near, |b, logarithm| exponential::exp(b.wide() * logarithm));
        each_widely(&near, results, |near| (near * (1.0 - POWER_ERROR)) as f32);
        each_widely(&near, &mut most, |near| (near * (1.0 + POWER_ERROR)) as f32);
        for ((((least, most), near), &a), &b) in results.iter_mut().zip(&most).zip(&near).zip(a).zip(b) {
            if *least != *most || !POWERS.contains(near) {
                *least = power(a, b);
            }
        }
    }
}

/// Which of two numbers an extremum leaves: whether it is the first.
pub(super) fn is_first(op: BinaryOp) -> Option<Binary<f64, bool>> {
    match op {
        BinaryOp::Maximum => Some(of_two!(is_maximum)),
        BinaryOp::Minimum => Some(of_two!(is_minimum)),
        _ => None,
    }
}

/// Whether the first is IEEE 754's `maximum`: a NaN wins, and of zeros of both signs the positive one.
#[inline]
fn is_maximum(x: f64, y: f64) -> bool {
    x > y || x.is_nan() || (x == y && x.is_sign_positive())
}

/// Whether the first is IEEE 754's `minimum`: a NaN wins, and of zeros of both signs the negative one.
#[inline]
fn is_minimum(x: f64, y: f64) -> bool {
    x < y || x.is_nan() || (x == y && x.is_sign_negative())
}

/// The order of the values; all zeros are equal, and every relation of a NaN is false, but that it differs.
fn by_value<T: Float>(direction: ComparisonDirection) -> Binary<T, bool> {
    match direction {
        ComparisonDirection::Eq => of_two!(|a: T, b: T| a.wide() == b.wide()),
        ComparisonDirection::Ne => of_two!(|a: T, b: T| a.wide() != b.wide()),
        ComparisonDirection::Ge => of_two!(|a: T, b: T| a.wide() >= b.wide()),
        ComparisonDirection::Gt => of_two!(|a: T, b: T| a.wide() > b.wide()),
        ComparisonDirection::Le => of_two!(|a: T, b: T| a.wide() <= b.wide()),
        ComparisonDirection::Lt => of_two!(|a: T, b: T| a.wide() < b.wide()),
    }
}

/// The order of IEEE 754's `totalOrder`: -NaN, -inf, …, -0, +0, …, inf, NaN.
fn total_order<T: Float>(direction: ComparisonDirection) -> Binary<T, bool> {
    match direction {
        ComparisonDirection::Eq => of_two!(|a: T, b: T| a.wide().total_cmp(&b.wide()).is_eq()),
        ComparisonDirection::Ne => of_two!(|a: T, b: T| a.wide().total_cmp(&b.wide()).is_ne()),
        ComparisonDirection::Ge => of_two!(|a: T, b: T| a.wide().total_cmp(&b.wide()).is_ge()),
        ComparisonDirection::Gt => of_two!(|a: T, b: T| a.wide().total_cmp(&b.wide()).is_gt()),
        ComparisonDirection::Le => of_two!(|a: T, b: T| a.wide().total_cmp(&b.wide()).is_le()),
        ComparisonDirection::Lt => of_two!(|a: T, b: T| a.wide().total_cmp(&b.wide()).is_lt()),
    }
}

#[inline]
pub(super) fn number<T: Float>(a: T) -> Number {
    Number::Real(a.wide())
}

#[inline]
pub(super) fn of<T: Float>(value: Number) -> T {
    match value {
        Number::Integer(value) => T::round_integer(value),
        Number::Real(value) | Number::Complex(value, _) => T::round(value),
    }
}
