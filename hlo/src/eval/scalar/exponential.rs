//! Exponential and hyperbolic functions for significands of at most 24 bits; see [`narrow`](super::narrow).

use super::logarithm::ln;
use super::narrow::{TO_INTEGER, polynomial};

/// ln 2 in two parts; the first has so few bits that its multiples below 2^11 are exact.
pub(super) const LN_2: [f64; 2] = [f64::from_bits(0x3FE6_2E42_FEFA_3800), 5.497_923_018_708_371e-14];

/// The polynomial that interpolates (e^r - 1) / r at the Chebyshev nodes of |r| <= ln 2 / 2, from r^9 down. It is off by 2^-49.5 at
/// most.
const POLYNOMIAL: [f64; 10] = [
    2.762_008_844_540_974_6e-7,
    2.763_265_575_933_203e-6,
    2.480_152_129_595_437_6e-5,
    1.984_119_061_583_585e-4,
    1.388_888_891_721_371_7e-3,
    8.333_333_367_332_009e-3,
    4.166_666_666_662_413e-2,
    1.666_666_666_661_560_7e-1,
    5.000_000_000_000_001e-1,
    1.000_000_000_000_001_3,
];

/// A power of two s and a p, so that e^x is s + sp. Where x is less than -160 or more than 130, these stand for it: no type of at
/// most 24 bits tells their powers from 0 and infinity.
#[inline]
fn power(x: f64) -> (f64, f64) {
    // As comparisons, which let a NaN pass.
    let x = if x < -160.0 { -160.0 } else { x };
    let x = if x > 130.0 { 130.0 } else { x };
    // x = n ln 2 + r, with r at most half of ln 2.
    let shifted = x * std::f64::consts::LOG2_E + TO_INTEGER;
    let n = shifted - TO_INTEGER;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    let two_to_n = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    (two_to_n, r * polynomial(&POLYNOMIAL, r))
}

/// e^x.
#[inline]
pub(super) fn exp(x: f64) -> f64 {
    let (s, p) = power(x);
    s * p + s
}

/// e^x - 1, with all its bits where x is close to 0.
#[inline]
pub(super) fn exp_m1(x: f64) -> f64 {
    let (s, p) = power(x);
    let value = s * p + (s - 1.0);
    // Of zeros the sign would be lost.
    if x == 0.0 { x } else { value }
}

/// The cube root: the third part of a logarithm is one of it.
#[inline]
pub(super) fn cbrt(x: f64) -> f64 {
    exp(ln(x.abs()) / 3.0).copysign(x)
}

/// The hyperbolic tangent.
#[inline]
pub(super) fn tanh(x: f64) -> f64 {
    let less_one = exp_m1(2.0 * x.abs());
    (less_one / (less_one + 2.0)).copysign(x)
}
