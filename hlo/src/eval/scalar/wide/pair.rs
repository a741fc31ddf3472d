//! Double-double arithmetic: numbers of 106 bits as unevaluated sums of two `f64`s.
//!
//! The algorithms are those of Dekker ("A floating-point technique for extending the available precision", 1971) and Knuth. No
//! fused multiplication is used: where a processor has none, it is the system's library that stands in for it.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, where `high` is the `f64` nearest to the sum.
///
/// Numbers beyond 2^900, products below 2^-900, infinities and NaNs are the callers' to keep away, or to replace afterwards.
#[derive(Copy, Clone, Debug)]
pub(super) struct Pair {
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Pair {
    pub(super) const ONE: Pair = Pair::of(1.0);

    /// A number as it is.
    #[inline(always)]
    pub(super) const fn of(value: f64) -> Self {
        Pair { high: value, low: 0.0 }
    }

    /// `a + b`, exactly.
    #[inline(always)]
    pub(super) const fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let b_there = high - a;
        Pair { high, low: (a - (high - b_there)) + (b - b_there) }
    }

    /// `a + b`, exactly, where `b` is not the larger.
    #[inline(always)]
    const fn sum_of_ordered(a: f64, b: f64) -> Self {
        let high = a + b;
        Pair { high, low: b - (high - a) }
    }

    /// `a * b`, exactly.
    #[inline(always)]
    pub(super) const fn product(a: f64, b: f64) -> Self {
        let (a_upper, a_lower) = halves(a);
        let (b_upper, b_lower) = halves(b);
        let high = a * b;
        let low = ((a_upper * b_upper - high) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower;
        Pair { high, low }
    }

    /// `a / b`.
    #[inline(always)]
    pub(super) const fn quotient(a: f64, b: f64) -> Self {
        Pair::of(a).over(Pair::of(b))
    }

    #[inline(always)]
    const fn over(self, other: Pair) -> Self {
        let first = self.high / other.high;
        let taken = Pair::product(first, other.high);
        let rest = (((self.high - taken.high) - taken.low) + self.low) - first * other.low;
        Pair::sum_of_ordered(first, rest / other.high)
    }

    /// The square root of a number that is not negative.
    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        let root = self.high.sqrt();
        let taken = Pair::product(root, root);
        let rest = ((self.high - taken.high) - taken.low) + self.low;
        let correction = if root == 0.0 { 0.0 } else { rest / (2.0 * root) };
        Pair::sum_of_ordered(root, correction)
    }

    #[inline(always)]
    pub(super) fn square(self) -> Self {
        self * self
    }

    /// The product with a power of two, which is exact.
    #[inline(always)]
    pub(super) fn times(self, power: f64) -> Self {
        Pair { high: self.high * power, low: self.low * power }
    }

    #[inline(always)]
    pub(super) fn abs(self) -> Self {
        if self.high.is_sign_negative() { -self } else { self }
    }

    /// The nearest `f64`.
    #[inline(always)]
    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }

    /// One or the other, without a branch.
    #[inline(always)]
    pub(super) fn either(condition: bool, one: Pair, other: Pair) -> Self {
        Pair { high: if condition { one.high } else { other.high }, low: if condition { one.low } else { other.low } }
    }
}

/// The upper 26 bits and the lower ones.
#[inline(always)]
const fn halves(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let upper = scaled - (scaled - a);
    (upper, a - upper)
}

impl Add for Pair {
    type Output = Pair;
    #[inline(always)]
    fn add(self, other: Pair) -> Pair {
        let sum = Pair::sum(self.high, other.high);
        Pair::sum_of_ordered(sum.high, sum.low + (self.low + other.low))
    }
}

impl Sub for Pair {
    type Output = Pair;
    #[inline(always)]
    fn sub(self, other: Pair) -> Pair {
        self + -other
    }
}

impl Mul for Pair {
    type Output = Pair;
    #[inline(always)]
    fn mul(self, other: Pair) -> Pair {
        let product = Pair::product(self.high, other.high);
        Pair::sum_of_ordered(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Pair {
    type Output = Pair;
    #[inline(always)]
    fn div(self, other: Pair) -> Pair {
        self.over(other)
    }
}

impl Neg for Pair {
    type Output = Pair;
    #[inline(always)]
    fn neg(self) -> Pair {
        Pair { high: -self.high, low: -self.low }
    }
}

impl Add<f64> for Pair {
    type Output = Pair;
    #[inline(always)]
    fn add(self, other: f64) -> Pair {
        let sum = Pair::sum(self.high, other);
        Pair::sum_of_ordered(sum.high, sum.low + self.low)
    }
}

impl Sub<f64> for Pair {
    type Output = Pair;
    #[inline(always)]
    fn sub(self, other: f64) -> Pair {
        self + -other
    }
}
