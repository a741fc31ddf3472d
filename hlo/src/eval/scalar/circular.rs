//! Trigonometric functions and their inverses for significands of at most 24 bits; see [`narrow`](super::narrow).

use super::narrow::{TO_INTEGER, polynomial};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Half of pi in three parts; the first two have 33 bits, so that their multiples below 2^20 are exact.
const HALF_PI: [f64; 3] =
    [f64::from_bits(0x3FF9_21FB_5440_0000), f64::from_bits(0x3DD0_B461_1A60_0000), 2.022_266_248_795_950_6e-21];

/// The polynomial in r^2 that interpolates (sin r - r) / r^3 at the Chebyshev nodes of |r| <= pi / 4. It is off by 2^-55 at most.
const SINE: [f64; 6] = [
    1.591_810_123_027_412e-10,
    -2.505_113_145_542_794_6e-8,
    2.755_731_610_068_303e-6,
    -1.984_126_983_675_497e-4,
    8.333_333_333_330_946e-3,
    -1.666_666_666_666_666_6e-1,
];

/// The polynomial in r^2 that interpolates (cos r - 1 + r^2 / 2) / r^4 there. It is off by 2^-59 at most.
const COSINE: [f64; 6] = [
    -1.138_261_486_855_632_5e-11,
    2.087_614_602_468_974_7e-9,
    -2.755_731_727_056_032_6e-7,
    2.480_158_729_876_343_3e-5,
    -1.388_888_888_888_739_5e-3,
    4.166_666_666_666_666_4e-2,
];

/// The polynomial in t^2 that interpolates (atan t - t) / t^3 at the Chebyshev nodes of |t| <= tan(pi / 8). It is off by 2^-50 at most.
const ARC_TANGENT: [f64; 10] = [
    2.274_735_247_134_221_4e-2,
    -4.483_102_621_840_611_6e-2,
    5.736_261_745_056_589e-2,
    -6.649_602_209_669_496e-2,
    7.691_054_071_029_589e-2,
    -9.090_852_496_984_875e-2,
    1.111_110_963_467_265_3e-1,
    -1.428_571_426_606_795e-1,
    1.999_999_999_989_823_8e-1,
    -3.333_333_333_333_325e-1,
];

/// Whether the sine and its kin are had from what follows.
#[inline]
pub(super) fn is_near(x: f64) -> bool {
    x.abs() < 1_048_576.0
}

/// The sine and the cosine of r, and the lowest bits of n, where x is r and n right angles.
#[inline]
fn parts(x: f64) -> (f64, f64, u64) {
    let shifted = x * std::f64::consts::FRAC_2_PI + TO_INTEGER;
    let n = shifted - TO_INTEGER;
    let r = ((x - n * HALF_PI[0]) - n * HALF_PI[1]) - n * HALF_PI[2];
    let square = r * r;
    let sine = r * (1.0 + square * polynomial(&SINE, square));
    let cosine = 1.0 - 0.5 * square + square * square * polynomial(&COSINE, square);
    (sine, cosine, shifted.to_bits())
}

/// The number with its sign changed where the second of the lowest bits is set.
#[inline]
fn signed(value: f64, bits: u64) -> f64 {
    f64::from_bits(value.to_bits() ^ (bits & 2) << 62)
}

/// The sine of a number that [`is_near`].
#[inline]
pub(super) fn sin(x: f64) -> f64 {
    let (sine, cosine, n) = parts(x);
    signed(if n & 1 == 0 { sine } else { cosine }, n)
}

/// The cosine of a number that [`is_near`].
#[inline]
pub(super) fn cos(x: f64) -> f64 {
    let (sine, cosine, n) = parts(x);
    signed(if n & 1 == 0 { cosine } else { sine }, n.wrapping_add(1))
}

/// The tangent of a number that [`is_near`].
#[inline]
pub(super) fn tan(x: f64) -> f64 {
    let (sine, cosine, n) = parts(x);
    let (above, below) = if n & 1 == 0 { (sine, cosine) } else { (-cosine, sine) };
    above / below
}

/// The angle of the point (x, y), of the sign of y.
#[inline]
pub(super) fn atan2(y: f64, x: f64) -> f64 {
    // Infinities are numbers next to which all others vanish, and next to each other do not.
    let size = |value: f64| if value.abs() > 1e300 { 1e300 } else { value.abs() };
    let (a, b) = (size(x), size(y));
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    // From pi / 8 on by the difference to pi / 4.
    let is_steep = less > (std::f64::consts::SQRT_2 - 1.0) * more;
    let (above, below) = if is_steep { (less - more, less + more) } else { (less, more) };
    let t = above / if below == 0.0 { 1.0 } else { below };
    let square = t * t;
    let angle = t + t * square * polynomial(&ARC_TANGENT, square);
    let angle = if is_steep { FRAC_PI_4 + angle } else { angle };
    let angle = if a < b { FRAC_PI_2 - angle } else { angle };
    let angle = (if x.is_sign_negative() { PI - angle } else { angle }).copysign(y);
    if x.is_nan() || y.is_nan() { x + y } else { angle }
}
