//! Logarithms for significands of at most 24 bits; see [`narrow`](super::narrow).

use super::exponential::LN_2;
use super::narrow::polynomial;

/// The polynomial in f^2 that interpolates (ln((1 + f) / (1 - f)) - 2f) / f^3 at the Chebyshev nodes of the f that come from numbers
/// between the square roots of 1/2 and 2. It is off by 2^-51 at most.
const POLYNOMIAL: [f64; 7] = [
    1.461_780_715_341_732_5e-1,
    1.533_161_172_205_500_8e-1,
    1.818_289_243_253_687e-1,
    2.222_221_108_937_949_6e-1,
    2.857_142_862_625_383_6e-1,
    3.999_999_999_989_889e-1,
    6.666_666_666_666_67e-1,
];

/// The m between the square roots of 1/2 and 2 and the integer e so that a positive number is 2^e m.
#[inline]
fn parts(x: f64) -> (f64, f64) {
    // Set in the lowest bits of 2^52, the exponent is the number's, and 1023.
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    let exponent = f64::from_bits(x.to_bits() >> 52 | TWO_TO_52.to_bits()) - (TWO_TO_52 + 1023.0);
    let mantissa = f64::from_bits(x.to_bits() & (u64::MAX >> 12) | 1f64.to_bits());
    let is_upper = mantissa > std::f64::consts::SQRT_2;
    (if is_upper { 0.5 * mantissa } else { mantissa }, if is_upper { exponent + 1.0 } else { exponent })
}

/// e ln 2 and the logarithm of (1 + f) / (1 - f).
#[inline]
fn sum(e: f64, f: f64) -> f64 {
    let square = f * f;
    e * LN_2[0] + (2.0 * f + (f * square * polynomial(&POLYNOMIAL, square) + e * LN_2[1]))
}

/// `value` where `x` is a positive number, else the logarithm of what it is.
#[inline]
fn or_end(x: f64, value: f64) -> f64 {
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    let value = if x < 0.0 { f64::NAN } else { value };
    // An infinity, and a NaN.
    if x < f64::INFINITY { value } else { x }
}

/// The natural logarithm.
#[inline]
pub(super) fn ln(x: f64) -> f64 {
    let (m, e) = parts(x);
    or_end(x, sum(e, (m - 1.0) / (m + 1.0)))
}

/// The natural logarithm of 1 + x, with all its bits where x is close to 0.
#[inline]
pub(super) fn ln_1p(x: f64) -> f64 {
    let (m, e) = parts(1.0 + x);
    let (above, below) = if e == 0.0 { (x, 2.0 + x) } else { (m - 1.0, m + 1.0) };
    let value = or_end(1.0 + x, sum(e, above / below));
    // Of zeros the sign would be lost.
    if x == 0.0 { x } else { value }
}
