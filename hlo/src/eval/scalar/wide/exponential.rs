//! The exponential function in double-double arithmetic.

use super::pair::Pair;
use super::series::{factorials, horner};
use crate::eval::scalar::narrow::TO_INTEGER;

/// ln 2 in three parts; the first two have 42 bits, so that their multiples below 2^11 are exact.
pub(super) const LN_2: [f64; 3] = [
    f64::from_bits(0x3FE6_2E42_FEFA_3800),
    f64::from_bits(0x3D2E_F357_93C7_6000),
    f64::from_bits(0x3A8C_C01F_97B5_7A08),
];

/// 1/4!, 1/5!, … of the terms from r^4 on, those from r^17 on being less than 2^-70.
const TAIL: [f64; 13] = factorials(4, 1);

/// What is so small that the square is lost next to it. Pairs would lose the sign of a zero, and bits of the least numbers.
pub(super) const TINY: f64 = 1e-150;

/// What is beyond all results: e^x is 0 or infinite, as is e^-x.
const MAX_ARGUMENT: f64 = 1400.0;

/// `2^exponent factor`.
#[derive(Copy, Clone)]
pub(super) struct Power {
    pub(super) exponent: f64,
    /// Less 1; at least -0.3 and at most 0.42.
    pub(super) factor_less_one: Pair,
}

impl Power {
    /// `e^x`, with an error below 2^-63.
    #[inline(always)]
    pub(super) fn of(x: Pair) -> Self {
        // As comparisons, which let a NaN pass.
        let x = Pair::either(x.high > MAX_ARGUMENT, Pair::of(MAX_ARGUMENT), x);
        let x = Pair::either(x.high < -MAX_ARGUMENT, Pair::of(-MAX_ARGUMENT), x);
        // x = n ln 2 + r, with r at most half of ln 2.
        let n = (x.high * std::f64::consts::LOG2_E + TO_INTEGER) - TO_INTEGER;
        let r = Pair::sum(x.high - n * LN_2[0], -(n * LN_2[1])) + (x.low - n * LN_2[2]);
        // e^r - 1 = r + r^2 (1/2 + r (1/6 + r (1/24 + ...))), the last of which need not be a pair.
        let third = Pair::quotient(1.0, 6.0) + r.high * horner(&TAIL, r.high);
        let factor_less_one = r + r.square() * (r * third + 0.5);
        Power { exponent: n, factor_less_one }
    }

    #[inline(always)]
    pub(super) fn factor(self) -> Pair {
        self.factor_less_one + 1.0
    }

    /// The value less 1, for an exponent below 1000.
    #[inline(always)]
    pub(super) fn less_one(self) -> Pair {
        let two_to_n = two_to(if self.exponent < -1000.0 { -1000.0 } else { self.exponent });
        Pair::sum(two_to_n, -1.0) + self.factor_less_one.times(two_to_n)
    }
}

/// 2^n, for an integer n between -1022 and 1023.
#[inline(always)]
pub(super) fn two_to(n: f64) -> f64 {
    f64::from_bits((n + TO_INTEGER).to_bits().wrapping_add(1023) << 52)
}

/// `2^n value`, rounded once, for a value whose exponent is between -100 and 10 and an integer n between -2040 and 2040.
#[inline(always)]
pub(super) fn scaled(value: Pair, n: f64) -> f64 {
    let half = (0.5 * n + TO_INTEGER) - TO_INTEGER;
    let rest = n - half;
    // Only the second of these loses bits, if there are less for the result.
    let (high, low) = (value.high * two_to(half), value.low * two_to(half));
    // What the least normal number comes from. Added to a lesser size, it leaves the bits that the result will have.
    let least = f64::MIN_POSITIVE * two_to(if rest < 0.0 { -rest } else { 0.0 });
    let (size, size_low) = (high.abs(), if high < 0.0 { -low } else { low });
    let anchored = least + size;
    let error = (size - (anchored - least)) + size_low;
    let few = ((anchored + error) - least).copysign(high);
    (if high.abs() < least { few } else { high + low }) * two_to(rest)
}

/// e^x.
#[inline(always)]
pub(in crate::eval) fn exp(x: f64) -> f64 {
    let power = Power::of(Pair::of(x));
    scaled(power.factor(), power.exponent)
}

/// e^x - 1.
#[inline(always)]
pub(in crate::eval) fn exp_m1(x: f64) -> f64 {
    // From 40 on the 1 is lost, even in the pair.
    let power = Power::of(Pair::of(x));
    let value = if x > 100.0 { scaled(power.factor(), power.exponent) } else { power.less_one().value() };
    if x.abs() < TINY { x } else { value }
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(in crate::eval) fn logistic(x: f64) -> f64 {
    // Of -|x|, which does not overflow.
    let power = Power::of(Pair::of(-x.abs()));
    let small = power.less_one() + 1.0;
    let whole = small + 1.0;
    let value = Pair::either(x < 0.0, small, Pair::ONE) / whole;
    // There the sum is 1, and what is left may have less bits than the pair holds.
    if x < -80.0 { scaled(power.factor(), power.exponent) } else { value.value() }
}

#[inline(always)]
pub(in crate::eval) fn sinh(x: f64) -> f64 {
    let power = Power::of(Pair::of(x.abs()));
    // (e^x - e^-x) / 2 without cancellation: half of m + m / (m + 1) for m = e^x - 1.
    let less_one = power.less_one();
    let value = (less_one + less_one / (less_one + 1.0)).value() * 0.5;
    let value = if x.abs() > 40.0 { scaled(power.factor(), power.exponent - 1.0) } else { value };
    if x.abs() < TINY { x } else { value.copysign(x) }
}

#[inline(always)]
pub(in crate::eval) fn cosh(x: f64) -> f64 {
    let power = Power::of(Pair::of(x.abs()));
    let value = power.less_one() + 1.0;
    let value = (value + Pair::ONE / value).value() * 0.5;
    if x.abs() > 40.0 { scaled(power.factor(), power.exponent - 1.0) } else { value }
}

#[inline(always)]
pub(in crate::eval) fn tanh(x: f64) -> f64 {
    let size = if x.abs() > 40.0 { 40.0 } else { x.abs() };
    let less_one = Power::of(Pair::of(2.0 * size)).less_one();
    let value = (less_one / (less_one + 2.0)).value();
    if x.abs() < TINY { x } else { value.copysign(x) }
}
