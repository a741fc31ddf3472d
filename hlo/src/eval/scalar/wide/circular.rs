//! Trigonometric functions and their inverses in double-double arithmetic.

use super::exponential::TINY;
use super::pair::Pair;
use super::series::{alternating, factorials, horner, odd_reciprocals};
use crate::eval::scalar::circular::is_near;
use crate::eval::scalar::narrow::TO_INTEGER;

/// Half of pi in four parts; the first three have 33 bits, so that their multiples below 2^20 are exact.
const HALF_PI_PARTS: [f64; 4] = [
    f64::from_bits(0x3FF9_21FB_5440_0000),
    f64::from_bits(0x3DD0_B461_1A60_0000),
    f64::from_bits(0x3BA3_198A_2E00_0000),
    f64::from_bits(0x397B_839A_2520_49C1),
];

/// Half of pi.
const HALF_PI: Pair = Pair { high: std::f64::consts::FRAC_PI_2, low: f64::from_bits(0x3C91_A626_3314_5C07) };
/// A quarter of pi, and pi.
const QUARTER_PI: Pair = Pair { high: std::f64::consts::FRAC_PI_4, low: f64::from_bits(0x3C81_A626_3314_5C07) };
pub(super) const PI: Pair = Pair { high: std::f64::consts::PI, low: f64::from_bits(0x3CA1_A626_3314_5C07) };

/// 64 zeros and the first bits of 2 / pi behind the point.
const TWO_OVER_PI: [u64; 20] = [
    0,
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
    0xB724_6E3A_424D_D2E0,
    0x0649_2EEA_09D1_921C,
    0xFE1D_EB1C_B129_A73E,
    0xE882_35F5_2EBB_4484,
    0xE99C_7026_B45F_7E41,
    0x3991_D639_8353_39F4,
    0x9C84_5F8B_BDF9_283B,
    0x1FF8_97FF_DE05_980F,
    0xEF2F_118B_5A0A_6D1F,
    0x6D36_7ECF_27CB_09B7,
    0x4F46_3F66_9E5F_EA2D,
    0x7527_BAC7_EBE5_F17B,
    0x3D07_39F7_8A52_92EA,
    0x6BFB_5FB1_1F8D_5D08,
    0x5603_3046_FC7B_6BAB,
];

/// 1/5!, 1/7!, … with the signs of the terms of (sin r) / r from r^4 on; those from r^20 on are less than 2^-72.
const SINE: [f64; 8] = alternating(factorials(5, 2));
/// 1/6!, 1/8!, … likewise, for the cosine from r^6 on.
const COSINE: [f64; 8] = alternating(factorials(6, 2));
/// 1/5, 1/7, … with the signs of the terms of (atan t) / t from t^4 on; those from t^50 on are less than 2^-69.
const ARC_TANGENT: [f64; 23] = alternating(odd_reciprocals(5));
/// The same from t^8 on.
const ARC_TANGENT_TAIL: [f64; 24] = alternating(odd_reciprocals(9));

/// A number as a sum of right angles and what is left of it, at most half a right angle.
#[derive(Copy, Clone)]
pub(super) struct Turn {
    rest: Pair,
    /// Modulo 4.
    quarters: u64,
}

impl Turn {
    /// Of a number that [`is_near`].
    #[inline(always)]
    fn near(x: Pair) -> Self {
        let shifted = x.high * std::f64::consts::FRAC_2_PI + TO_INTEGER;
        let n = shifted - TO_INTEGER;
        let [first, second, third, fourth] = HALF_PI_PARTS.map(|part| n * part);
        let rest = ((Pair::sum(x.high - first, -second) - third) - fourth) + x.low;
        Turn { rest, quarters: shifted.to_bits() & 3 }
    }

    /// Of any other: as many bits of 2 / pi as matter, times the mantissa (Payne and Hanek, 1983). Infinities and NaNs have none.
    fn far(x: f64) -> Self {
        if !x.is_finite() {
            return Turn { rest: Pair::of(f64::NAN), quarters: 0 };
        }
        let bits = x.to_bits();
        let (mantissa, exponent) = (bits << 12 >> 12 | 1 << 52, (bits >> 52 & 0x7FF) as usize);
        // |x| is mantissa 2^(exponent - 1075). Bits before this one are for multiples of four right angles.
        let first = exponent + 62 - 1075;
        let word = |index: usize| {
            let (at, shift) = (index + first / 64, first % 64);
            if shift == 0 { TWO_OVER_PI[at] } else { TWO_OVER_PI[at] << shift | TWO_OVER_PI[at + 1] >> (64 - shift) }
        };
        let product = |index: usize| u128::from(mantissa) * u128::from(word(index));
        let lowest = product(2);
        let middle = product(1) + (lowest >> 64);
        let highest = product(0) + (middle >> 64);
        let (highest, middle, lowest) = (highest as u64, middle as u64, lowest as u64);
        let fraction = u128::from(highest << 2 | middle >> 62) << 64 | u128::from(middle << 2 | lowest >> 62);
        // To the nearest multiple, so that the fraction is between -1/2 and 1/2.
        let is_over = fraction >> 127 == 1;
        let quarters = (highest >> 62) + u64::from(is_over);
        let size = if is_over { fraction.wrapping_neg() } else { fraction };
        let zeros = size.leading_zeros();
        let size = size << zeros;
        let unit = f64::from_bits(u64::from(1023 - 53 - zeros) << 52);
        let high = (size >> 75) as f64 * unit;
        let low = ((size << 53) >> 64) as f64 * unit / 18_446_744_073_709_551_616.0;
        let rest = Pair { high, low } * HALF_PI;
        let turn = if is_over { Turn { rest: -rest, quarters } } else { Turn { rest, quarters } };
        if x < 0.0 { Turn { rest: -turn.rest, quarters: turn.quarters.wrapping_neg() } } else { turn }
    }

    /// Of any number.
    pub(super) fn of(x: f64) -> Self {
        if is_near(x) { Turn::near(Pair::of(x)) } else { Turn::far(x) }
    }

    /// Of any pair.
    pub(super) fn of_pair(x: Pair) -> Self {
        if is_near(x.high) {
            return Turn::near(x);
        }
        let (high, low) = (Turn::of(x.high), Turn::of(x.low));
        let both = Turn::near(high.rest + low.rest);
        Turn { rest: both.rest, quarters: both.quarters.wrapping_add(high.quarters).wrapping_add(low.quarters) }
    }

    /// The sine and the cosine of what is left, with errors below 2^-60 of them.
    #[inline(always)]
    fn of_rest(self) -> (Pair, Pair) {
        let r = self.rest;
        let square = r.square();
        let third = Pair::quotient(-1.0, 6.0) + square.high * horner(&SINE, square.high);
        let sine = r + r * (square * third);
        let fourth = Pair::quotient(1.0, 24.0) - square.high * horner(&COSINE, square.high);
        let cosine = square * (square * fourth - 0.5) + 1.0;
        (sine, cosine)
    }

    /// The sine.
    #[inline(always)]
    pub(super) fn sine(self) -> Pair {
        let (sine, cosine) = self.of_rest();
        signed(Pair::either(self.quarters & 1 == 0, sine, cosine), self.quarters)
    }

    #[inline(always)]
    pub(super) fn cosine(self) -> Pair {
        let (sine, cosine) = self.of_rest();
        signed(Pair::either(self.quarters & 1 == 0, cosine, sine), self.quarters.wrapping_add(1))
    }

    #[inline(always)]
    pub(super) fn tangent(self) -> Pair {
        let (sine, cosine) = self.of_rest();
        let is_even = self.quarters & 1 == 0;
        Pair::either(is_even, sine, -cosine) / Pair::either(is_even, cosine, sine)
    }
}

/// The number with its sign changed where the second of the lowest bits is set.
#[inline(always)]
fn signed(value: Pair, bits: u64) -> Pair {
    Pair::either(bits & 2 == 0, value, -value)
}

/// The sine of a number that [`is_near`].
#[inline(always)]
pub(in crate::eval) fn sin_near(x: f64) -> f64 {
    if x.abs() < TINY { x } else { Turn::near(Pair::of(x)).sine().value() }
}

/// The sine of any number.
pub(in crate::eval) fn sin(x: f64) -> f64 {
    if x.abs() < TINY { x } else { Turn::of(x).sine().value() }
}

/// The cosine of a number that [`is_near`].
#[inline(always)]
pub(in crate::eval) fn cos_near(x: f64) -> f64 {
    Turn::near(Pair::of(x)).cosine().value()
}

/// The cosine of any number.
pub(in crate::eval) fn cos(x: f64) -> f64 {
    Turn::of(x).cosine().value()
}

/// The tangent of a number that [`is_near`].
#[inline(always)]
pub(in crate::eval) fn tan_near(x: f64) -> f64 {
    if x.abs() < TINY { x } else { Turn::near(Pair::of(x)).tangent().value() }
}

/// The tangent of any number.
pub(in crate::eval) fn tan(x: f64) -> f64 {
    if x.abs() < TINY { x } else { Turn::of(x).tangent().value() }
}

/// The sine and the cosine of k n-ths of a full turn, for k less than n and n at most 2^53.
pub(crate) fn sin_cos_of_turn(k: u64, n: u64) -> (f64, f64) {
    // In eighths of a turn the angle is small and the quarters are exact.
    let (k, wide) = (8 * u128::from(k), u128::from(n));
    let (eighths, rest) = (k / wide, (k % wide) as f64);
    let part = if eighths % 2 == 0 { rest } else { n as f64 - rest };
    let rest = Pair::quotient(part, n as f64) * QUARTER_PI;
    let (sine, cosine) = Turn { rest, quarters: 0 }.of_rest();
    let (sine, cosine) = (sine.value(), cosine.value());
    match eighths {
        0 => (sine, cosine),
        1 => (cosine, sine),
        2 => (cosine, -sine),
        3 => (sine, -cosine),
        4 => (-sine, -cosine),
        5 => (-cosine, -sine),
        6 => (-cosine, sine),
        _ => (-sine, cosine),
    }
}

/// The terms of (atan t) / t behind the first, given the square of t, with an error below 2^-60.
#[inline(always)]
fn arc_terms(square: Pair) -> Pair {
    square * (Pair::quotient(-1.0, 3.0) + square.high * horner(&ARC_TANGENT, square.high))
}

/// The same with an error below 2^-67.
fn more_arc_terms(square: Pair) -> Pair {
    let seventh = Pair::quotient(-1.0, 7.0) + square.high * horner(&ARC_TANGENT_TAIL, square.high);
    let fifth = Pair::quotient(1.0, 5.0) + square * seventh;
    square * (Pair::quotient(-1.0, 3.0) + square * fifth)
}

/// The angle of the point (x, y), neither of which is negative, and not both zero.
#[inline(always)]
fn angle(y: Pair, x: Pair, terms: impl Fn(Pair) -> Pair) -> Pair {
    let is_over = x.high < y.high;
    let (less, more) = (Pair::either(is_over, x, y), Pair::either(is_over, y, x));
    // From pi / 8 on by the difference to pi / 4.
    let is_steep = less.high > (std::f64::consts::SQRT_2 - 1.0) * more.high;
    let t = Pair::either(is_steep, less - more, less) / Pair::either(is_steep, less + more, more);
    let angle = t + t * terms(t.square());
    let angle = Pair::either(is_steep, QUARTER_PI + angle, angle);
    Pair::either(is_over, HALF_PI - angle, angle)
}

/// The angle of the point (x, y), with an error below 2^-59 of it, of the sign of y.
#[inline(always)]
pub(super) fn angle_of(y: Pair, x: Pair) -> Pair {
    angle_by(y, x, arc_terms)
}

/// The same with an error below 2^-66, for those who multiply it.
pub(super) fn precise_angle_of(y: Pair, x: Pair) -> Pair {
    angle_by(y, x, more_arc_terms)
}

#[inline(always)]
fn angle_by(y: Pair, x: Pair, terms: impl Fn(Pair) -> Pair) -> Pair {
    // Next to an infinity all other numbers vanish.
    let is_infinite = x.high.abs() == f64::INFINITY || y.high.abs() == f64::INFINITY;
    let size = |value: Pair| {
        let end = if value.high.abs() == f64::INFINITY { 1.0 } else { 0.0 };
        Pair::either(is_infinite, Pair::of(end), Pair::either(value.high.is_sign_negative(), -value, value))
    };
    let (a, b) = (size(x), size(y));
    // Of two zeros, that of (1, 0).
    let a = Pair::either(a.high == 0.0 && b.high == 0.0, Pair::ONE, a);
    let most = if a.high < b.high { b.high } else { a.high };
    // 2^600.
    const LARGE: f64 = 4.149_515_568_880_993e180;
    let scale = if most > 1e150 { 1.0 / LARGE } else { 1.0 };
    let scale = if most < 1e-150 { LARGE } else { scale };
    let angle = angle(b.times(scale), a.times(scale), terms);
    let angle = Pair::either(x.high.is_sign_negative(), PI - angle, angle);
    let angle = Pair::either(y.high.is_sign_negative(), -angle, angle);
    Pair::either(x.high.is_nan() || y.high.is_nan(), Pair::of(x.high + y.high), angle)
}

/// The angle of the point (x, y), of the sign of y.
#[inline(always)]
pub(in crate::eval) fn atan2(y: f64, x: f64) -> f64 {
    angle_of(Pair::of(y), Pair::of(x)).value()
}

/// `sqrt(1 - x^2)`.
#[inline(always)]
fn opposite(x: f64) -> Pair {
    (Pair::sum(1.0, -x) * Pair::sum(1.0, x)).sqrt()
}

#[inline(always)]
pub(in crate::eval) fn asin(x: f64) -> f64 {
    angle_of(Pair::of(x), opposite(x)).value()
}

#[inline(always)]
pub(in crate::eval) fn acos(x: f64) -> f64 {
    angle_of(opposite(x), Pair::of(x)).value()
}
