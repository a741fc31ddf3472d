//! `pow` and `hypot` in double-double arithmetic.

use super::exponential::{Power, scaled, two_to};
use super::logarithm::Ratio;
use super::pair::Pair;

/// a^b, with the cases of IEEE 754's `pow`.
#[inline(always)]
pub(in crate::eval) fn pow(a: f64, b: f64) -> f64 {
    let size = a.abs();
    let logarithm = Ratio::of(Pair::of(size), 0.0).ln();
    // Beyond 2^70 all powers but those of 1 are 0 or infinite.
    const MAX_EXPONENT: f64 = 1_180_591_620_717_411_303_424.0;
    let exponent = if b.abs() > MAX_EXPONENT { MAX_EXPONENT.copysign(b) } else { b };
    let power = Power::of(Pair::of(exponent) * logarithm);
    let value = scaled(power.factor(), power.exponent);
    // Of zero and infinity, and of what is no number.
    let value = if size == 0.0 || size == f64::INFINITY {
        if (size == 0.0) == (b < 0.0) { f64::INFINITY } else { 0.0 }
    } else {
        value
    };
    let is_integer = b.trunc() == b;
    let is_odd = is_integer && (0.5 * b).trunc() != 0.5 * b;
    let value = if is_odd { value.copysign(a) } else { value };
    let value = if a < 0.0 && a > f64::NEG_INFINITY && !is_integer { f64::NAN } else { value };
    let value = if a.is_nan() || b.is_nan() { a + b } else { value };
    if b == 0.0 || a == 1.0 { 1.0 } else { value }
}

/// A point scaled by a power of two, so that squares neither overflow nor vanish.
pub(super) struct Scaled {
    pub(super) x: f64,
    pub(super) y: f64,
    /// The point is 2^exponent times this one; an even number.
    pub(super) exponent: f64,
}

impl Scaled {
    /// Of finite numbers.
    pub(super) fn of(x: f64, y: f64) -> Self {
        let most = if x.abs() < y.abs() { y.abs() } else { x.abs() };
        let exponent = match most {
            most if most > 1e140 => 600.0,
            most if most < 1e-140 => -700.0,
            _ => 0.0,
        };
        let scale = two_to(-exponent);
        Scaled { x: x * scale, y: y * scale, exponent }
    }

    /// `x^2 + y^2`.
    pub(super) fn square(&self) -> Pair {
        Pair::product(self.x, self.x) + Pair::product(self.y, self.y)
    }
}

/// `sqrt(x^2 + y^2)`; infinite where one of them is.
pub(in crate::eval) fn hypot(x: f64, y: f64) -> f64 {
    if x.abs() == f64::INFINITY || y.abs() == f64::INFINITY {
        return f64::INFINITY;
    }
    let point = Scaled::of(x, y);
    scaled(point.square().sqrt(), point.exponent)
}
