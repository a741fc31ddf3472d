//! Logarithms in double-double arithmetic.

use super::exponential::{LN_2, TINY, two_to};
use super::pair::Pair;
use super::series::{horner, odd_reciprocals};
use crate::eval::scalar::narrow::TO_INTEGER;

/// 1/7, 1/9, … of the terms of (artanh f) / f from f^6 on. Those from f^28 on are less than 2^-75.
const TAIL: [f64; 11] = odd_reciprocals(7);

/// `2^exponent (1 + f) / (1 - f)`, with `f` as a quotient.
#[derive(Copy, Clone)]
pub(super) struct Ratio {
    exponent: f64,
    above: Pair,
    below: Pair,
}

impl Ratio {
    /// A positive number times 2^exponent, an integer.
    #[inline(always)]
    pub(super) fn of(x: Pair, exponent: f64) -> Self {
        const TWO_TO_54: f64 = 18_014_398_509_481_984.0;
        let is_subnormal = x.high < f64::MIN_POSITIVE;
        let x = if is_subnormal { x.times(TWO_TO_54) } else { x };
        let exponent = if is_subnormal { exponent - 54.0 } else { exponent };
        // Set in the lowest bits of 2^52, the exponent is the number's, and 1023.
        const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
        let e = f64::from_bits(x.high.to_bits() >> 52 | TWO_TO_52.to_bits()) - (TWO_TO_52 + 1023.0);
        let mantissa = f64::from_bits(x.high.to_bits() & (u64::MAX >> 12) | 1f64.to_bits());
        let is_upper = mantissa > std::f64::consts::SQRT_2;
        let (m, e) = if is_upper { (0.5 * mantissa, e + 1.0) } else { (mantissa, e) };
        let half = (0.5 * e + TO_INTEGER) - TO_INTEGER;
        let low = x.low * two_to(-half) * two_to(half - e);
        Ratio { exponent: exponent + e, above: Pair::sum(m - 1.0, low), below: Pair::sum(m, 1.0) + low }
    }

    /// `1 + x`, for x greater than -1.
    #[inline(always)]
    pub(super) fn of_one_plus(x: Pair) -> Self {
        let ratio = Ratio::of(x + 1.0, 0.0);
        Ratio::either(ratio.exponent == 0.0, Ratio { exponent: 0.0, above: x, below: x + 2.0 }, ratio)
    }

    #[inline(always)]
    pub(super) fn either(condition: bool, one: Ratio, other: Ratio) -> Self {
        Ratio {
            exponent: if condition { one.exponent } else { other.exponent },
            above: Pair::either(condition, one.above, other.above),
            below: Pair::either(condition, one.below, other.below),
        }
    }

    /// The logarithm, with an error below 2^-70 of it.
    #[inline(always)]
    pub(super) fn ln(self) -> Pair {
        // 2 f (1 + f^2 (1/3 + f^2 (1/5 + f^2 (1/7 + ...)))), the last of which need not be a pair.
        let f = self.above / self.below;
        let square = f.square();
        let fifth = Pair::quotient(1.0, 5.0) + square.high * horner(&TAIL, square.high);
        let third = Pair::quotient(1.0, 3.0) + square * fifth;
        let value = (f + f * (square * third)).times(2.0);
        let e = self.exponent;
        (Pair::sum(e * LN_2[0], e * LN_2[1]) + e * LN_2[2]) + value
    }
}

/// `value` where `x` is a positive number, else the logarithm of what it is.
#[inline(always)]
fn or_end(x: f64, value: f64) -> f64 {
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    let value = if x < 0.0 { f64::NAN } else { value };
    // An infinity, and a NaN.
    if x < f64::INFINITY { value } else { x }
}

#[inline(always)]
pub(in crate::eval) fn ln(x: f64) -> f64 {
    or_end(x, Ratio::of(Pair::of(x), 0.0).ln().value())
}

/// The logarithm of 1 + x.
#[inline(always)]
pub(in crate::eval) fn ln_1p(x: f64) -> f64 {
    let value = or_end(1.0 + x, Ratio::of_one_plus(Pair::of(x)).ln().value());
    if x.abs() < TINY { x } else { value }
}

/// What is so large that 1 next to its square is lost.
const LARGE: f64 = 1_099_511_627_776.0;

#[inline(always)]
pub(in crate::eval) fn asinh(x: f64) -> f64 {
    let value = asinh_of(Pair::of(x.abs())).value();
    let value = if x.abs() < f64::INFINITY { value } else { x.abs() };
    if x.abs() < TINY { x } else { value.copysign(x) }
}

/// Of a number that is not negative.
#[inline(always)]
pub(super) fn asinh_of(x: Pair) -> Pair {
    // ln(x + sqrt(x^2 + 1)) = ln1p(x + x^2 / (1 + sqrt(x^2 + 1))), of large numbers ln(2 x).
    let is_large = x.high > LARGE;
    let small = Pair::either(is_large, Pair::ONE, x);
    let square = small.square();
    let argument = small + square / ((square + 1.0).sqrt() + 1.0);
    Ratio::either(is_large, Ratio::of(x, 1.0), Ratio::of_one_plus(argument)).ln()
}

#[inline(always)]
pub(in crate::eval) fn acosh(x: f64) -> f64 {
    // ln(x + sqrt(x^2 - 1)) = ln1p(t + sqrt(t (t + 2))) for t = x - 1.
    let is_large = x > LARGE;
    let t = Pair::sum(if is_large { 1.0 } else { x }, -1.0);
    let argument = t + (t * (t + 2.0)).sqrt();
    let value = Ratio::either(is_large, Ratio::of(Pair::of(x), 1.0), Ratio::of_one_plus(argument)).ln().value();
    let value = if x < 1.0 { f64::NAN } else { value };
    if x < f64::INFINITY { value } else { x }
}

#[inline(always)]
pub(in crate::eval) fn atanh(x: f64) -> f64 {
    // ln((1 + x) / (1 - x)) / 2
    let size = x.abs();
    let argument = Pair::of(2.0 * size) / Pair::sum(1.0, -size);
    let value = 0.5 * Ratio::of_one_plus(argument).ln().value();
    let value = if size < 1.0 { value } else { f64::INFINITY };
    let value = if size <= 1.0 { value } else { f64::NAN };
    if x.abs() < TINY { x } else { value.copysign(x) }
}
