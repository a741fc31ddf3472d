//! Closed intervals of integers.
//!
//! Bounds are inclusive. The ends of `i64` stand for "no bound", also of integers beyond `i64`: arithmetic is exact where it
//! fits, widens to the ends where it does not, and an end stays an end whatever is added to it or divides it. So what
//! is proved with intervals holds of all integers, and no rewrite depends on whether a value in between overflows.

use std::fmt;
use std::ops::{Add, Sub};

/// The integers `lo ..= hi`; empty when `lo > hi`.
///
/// ```
/// use weft_affine::Interval;
///
/// let i = Interval::new(-3, 5);
/// assert_eq!(i + Interval::of_extent(4), Interval::new(-3, 8));
/// assert_eq!(i.scale(-2), Interval::new(-10, 6));
/// assert_eq!(i.floor_div(4), Interval::new(-1, 1));
/// assert_eq!(i.modulo(4), Interval::new(0, 3));
/// assert_eq!((i.size(), i.contains(0), i.to_string()), (9, true, "[-3, 5]".to_owned()));
/// assert_eq!(Interval::new(0, i64::MAX) + Interval::point(1), Interval::new(1, i64::MAX), "no bound stays no bound");
/// ```
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

    /// The number of integers in the interval; zero when empty.
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

    /// The interval of exact ends, widened to the ends of `i64` where they lie beyond; a missing end is no bound.
    ///
    /// Never a single value at an end of `i64`, since that value would also stand for everything beyond it.
    pub(crate) fn of_ends(lo: Option<i128>, hi: Option<i128>) -> Interval {
        if let (Some(lo), Some(hi)) = (lo, hi)
            && lo > hi
        {
            return Interval::EMPTY;
        }
        let within = |v: i128, least: i64, most: i64| {
            // A value beyond the one end is not below it, and one beyond the other is not above it.
            i64::try_from(v).unwrap_or(if v < 0 { least } else { most }).clamp(least, most)
        };
        Interval {
            lo: lo.map_or(i64::MIN, |v| within(v, i64::MIN, i64::MAX - 1)),
            hi: hi.map_or(i64::MAX, |v| within(v, i64::MIN + 1, i64::MAX)),
        }
    }

    /// The least value, where there is a bound below.
    pub(crate) fn bound_below(self) -> Option<i128> {
        (self.lo != i64::MIN).then_some(i128::from(self.lo))
    }

    /// The greatest value, where there is a bound above.
    pub(crate) fn bound_above(self) -> Option<i128> {
        (self.hi != i64::MAX).then_some(i128::from(self.hi))
    }

    /// The values times `factor`.
    #[must_use]
    pub fn scale(self, factor: i64) -> Interval {
        if self.is_empty() {
            return Interval::EMPTY;
        }
        let scaled = |end: Option<i128>| end.map(|v| v * i128::from(factor));
        let (low, high) = (scaled(self.bound_below()), scaled(self.bound_above()));
        match factor {
            0 => Interval::point(0),
            1.. => Interval::of_ends(low, high),
            _ => Interval::of_ends(high, low),
        }
    }

    /// The floor quotients by `divisor`, which must be positive; everything otherwise.
    #[must_use]
    pub fn floor_div(self, divisor: i64) -> Interval {
        if divisor <= 0 {
            Interval::EVERYTHING
        } else if self.is_empty() {
            Interval::EMPTY
        } else {
            let end = |v: i64, open: i64| if v == open { v } else { floor_div(v, divisor) };
            Interval { lo: end(self.lo, i64::MIN), hi: end(self.hi, i64::MAX) }
        }
    }

    /// The floor remainders by `modulus`, which must be positive; everything otherwise.
    #[must_use]
    pub fn modulo(self, modulus: i64) -> Interval {
        if modulus <= 0 {
            Interval::EVERYTHING
        } else if self.is_empty() {
            Interval::EMPTY
        } else if self.lo != i64::MIN
            && self.hi != i64::MAX
            && floor_div(self.lo, modulus) == floor_div(self.hi, modulus)
        {
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
        let plus = |a: Option<i128>, b: Option<i128>| Some(a? + b?);
        Interval::of_ends(plus(self.bound_below(), other.bound_below()), plus(self.bound_above(), other.bound_above()))
    }
}

/// The differences of a value of each.
impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        let minus = |a: Option<i128>, b: Option<i128>| Some(a? - b?);
        Interval::of_ends(
            minus(self.bound_below(), other.bound_above()),
            minus(self.bound_above(), other.bound_below()),
        )
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
        assert_eq!(Interval::point(i64::MIN + 1).scale(-2), Interval::new(i64::MAX - 1, i64::MAX));
        assert_eq!(top + Interval::point(-1), Interval::new(-1, i64::MAX), "no bound stays no bound");
        assert_eq!(top.scale(-1), Interval::new(i64::MIN, 0));
        assert_eq!(top.floor_div(2), top);
        assert_eq!(Interval::new(i64::MAX - 1, i64::MAX).modulo(2), Interval::new(0, 1));
        assert_eq!(Interval::EVERYTHING.size(), 1u128 << 64);
        assert_eq!(Interval::new(3, 5).intersect(Interval::new(7, 9)), Interval::EMPTY);
    }
}
