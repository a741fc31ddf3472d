//! Closed intervals of integers: the facts every side condition is proved from.
//!
//! Bounds are inclusive. The ends of `i64` stand for "no bound": values beyond them do not exist here, because an
//! evaluation that leaves `i64` is an error and not a value. Arithmetic is therefore exact where it fits and widens to
//! the ends where it does not.

use std::fmt;
use std::ops::{Add, Sub};

/// The integers `lo ..= hi`; empty when `lo > hi`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Interval {
    /// The least value.
    pub lo: i64,
    /// The greatest value, itself included.
    pub hi: i64,
}

impl Interval {
    /// Every `i64`: nothing is known.
    pub const EVERYTHING: Interval = Interval { lo: i64::MIN, hi: i64::MAX };

    /// The interval without values, written `[0, -1]`.
    pub const EMPTY: Interval = Interval { lo: 0, hi: -1 };

    /// The interval `[lo, hi]`.
    pub const fn new(lo: i64, hi: i64) -> Interval {
        Interval { lo, hi }
    }

    /// The single value `v`.
    pub const fn point(v: i64) -> Interval {
        Interval { lo: v, hi: v }
    }

    /// `[0, extent - 1]`, the indices of a dimension; empty for an extent of zero or less.
    pub const fn of_extent(extent: i64) -> Interval {
        if extent <= 0 { Interval::EMPTY } else { Interval { lo: 0, hi: extent - 1 } }
    }

    /// True when there is no value.
    pub const fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// The value, where there is exactly one.
    pub fn as_point(self) -> Option<i64> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// How many values there are; zero when empty.
    pub fn size(self) -> u128 {
        if self.is_empty() { 0 } else { (i128::from(self.hi) - i128::from(self.lo)).unsigned_abs() + 1 }
    }

    /// True when `v` is one of the values.
    pub const fn contains(self, v: i64) -> bool {
        self.lo <= v && v <= self.hi
    }

    /// True when every value of `other` is a value of `self`; an empty `other` always is.
    pub const fn contains_interval(self, other: Interval) -> bool {
        other.is_empty() || (self.lo <= other.lo && other.hi <= self.hi)
    }

    /// The values of both. All empty results are [`Interval::EMPTY`], so that equal sets are equal values.
    pub fn intersect(self, other: Interval) -> Interval {
        let both = Interval { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) };
        if both.is_empty() { Interval::EMPTY } else { both }
    }

    /// The least interval that holds the values of both.
    pub fn hull(self, other: Interval) -> Interval {
        if self.is_empty() {
            other
        } else if other.is_empty() {
            self
        } else {
            Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
        }
    }

    /// The interval of exact ends, widened to the ends of `i64` where they lie beyond.
    pub(crate) fn clamp(lo: i128, hi: i128) -> Interval {
        if lo > hi {
            return Interval::EMPTY;
        }
        let min = i128::from(i64::MIN);
        let max = i128::from(i64::MAX);
        if lo > max || hi < min {
            // No value of the expression fits: every evaluation is an error, so any claim holds of the values.
            return Interval::EVERYTHING;
        }
        let end = |v: i128| i64::try_from(v.clamp(min, max)).unwrap_or(i64::MAX);
        Interval { lo: end(lo), hi: end(hi) }
    }

    /// The values times `factor`.
    #[must_use]
    pub fn scale(self, factor: i64) -> Interval {
        if self.is_empty() {
            return Interval::EMPTY;
        }
        let (a, b) = (i128::from(self.lo) * i128::from(factor), i128::from(self.hi) * i128::from(factor));
        Interval::clamp(a.min(b), a.max(b))
    }

    /// The floor quotients by `divisor`, which must be positive; everything otherwise.
    #[must_use]
    pub fn floor_div(self, divisor: i64) -> Interval {
        if divisor <= 0 {
            Interval::EVERYTHING
        } else if self.is_empty() {
            Interval::EMPTY
        } else {
            Interval { lo: floor_div(self.lo, divisor), hi: floor_div(self.hi, divisor) }
        }
    }

    /// The floor remainders by `modulus`, which must be positive; everything otherwise.
    #[must_use]
    pub fn modulo(self, modulus: i64) -> Interval {
        if modulus <= 0 {
            Interval::EVERYTHING
        } else if self.is_empty() {
            Interval::EMPTY
        } else if floor_div(self.lo, modulus) == floor_div(self.hi, modulus) {
            Interval { lo: self.lo.rem_euclid(modulus), hi: self.hi.rem_euclid(modulus) }
        } else {
            Interval { lo: 0, hi: modulus - 1 }
        }
    }
}

/// The sums of a value of each.
impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        Interval::clamp(i128::from(self.lo) + i128::from(other.lo), i128::from(self.hi) + i128::from(other.hi))
    }
}

/// The differences of a value of each.
impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        Interval::clamp(i128::from(self.lo) - i128::from(other.hi), i128::from(self.hi) - i128::from(other.lo))
    }
}

/// The text of the specification: `[0, 9]`.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lo, self.hi)
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `⌊a / b⌋` for positive `b`, where it cannot overflow.
pub(crate) fn floor_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b)
}

/// The greatest common divisor of two magnitudes; `gcd(0, b) = b`.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_holds_every_value() {
        for lo in -5..=5i64 {
            for hi in lo..=5 {
                let i = Interval::new(lo, hi);
                for c in 1..=4 {
                    let (d, m) = (i.floor_div(c), i.modulo(c));
                    for v in lo..=hi {
                        assert!(d.contains(v.div_euclid(c)), "{i} // {c}");
                        assert!(m.contains(v.rem_euclid(c)), "{i} mod {c}");
                        assert!(i.scale(-c).contains(v * -c));
                        assert!((i - Interval::new(0, 1)).contains(v - 1));
                    }
                }
            }
        }
    }

    #[test]
    fn ends_widen_and_never_wrap() {
        let top = Interval::new(0, i64::MAX);
        assert_eq!(top + Interval::point(1), Interval::new(1, i64::MAX));
        assert_eq!(top.scale(-2), Interval::new(i64::MIN, 0));
        assert_eq!(Interval::point(i64::MIN).scale(-1), Interval::EVERYTHING);
        assert_eq!(Interval::EVERYTHING.size(), 1u128 << 64);
        assert_eq!(Interval::new(3, 5).intersect(Interval::new(7, 9)), Interval::EMPTY);
    }
}
