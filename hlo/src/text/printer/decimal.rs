//! Exact decimal digits of binary floating-point numbers.
//!
//! A float is an integer of up to 64 bits times a power of two, so its first digits are the integer part of its product
//! with a power of ten. That product is computed to 192 bits, which tells all digits and how to round them, unless the
//! rest is so near to a boundary that the error of the power might matter; then the standard library is asked, which
//! computes with integers of any length. (The method is that of *Printing Floating-Point Numbers Quickly and Accurately
//! with Integers*, Loitsch, 2010, for a number of digits that is given.)

use super::power::PowerOfTen;

/// By how much a [`Scaled`] number may be off, in units of its fraction: one part in 2^117 of less than 2^60 units of
/// 2^64 is less than 2^7.
const TOLERANCE: u128 = 1 << 10;

/// The unit of [`Scaled::fixed`].
const ONE: u128 = 1 << 64;

/// The first digits of a positive number: `digits` has as many digits as were asked for, and the first of them counts
/// `10^exponent`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: u64,
    pub(super) exponent: i32,
}

/// A positive binary number, `mantissa * 2^exponent`, whose neighbors differ by `2^exponent`, or by half of that below
/// a mantissa that is a power of two.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Binary {
    pub(super) mantissa: u64,
    pub(super) exponent: i32,
}

/// A positive number times the power of ten that leaves it with as many digits before the point as were asked for.
struct Scaled {
    /// The number in units of 2^-64, too small by no more than [`TOLERANCE`] of them.
    fixed: u128,
    /// Half of the distance to the next neighbor in the same units, likewise.
    half_gap: u128,
    /// Whether `fixed` is neither too small nor cut off.
    exact: bool,
    /// The power of ten that the first digit counts.
    exponent: i32,
}

impl Binary {
    /// The magnitude of a finite number other than zero.
    pub(super) fn of_f32(value: f32) -> Self {
        let bits = value.to_bits() & 0x7fff_ffff;
        match bits >> 23 {
            0 => Binary { mantissa: u64::from(bits), exponent: -149 },
            biased => Binary { mantissa: u64::from(bits & 0x7f_ffff | 0x80_0000), exponent: biased as i32 - 150 },
        }
    }

    /// The magnitude of a finite number other than zero.
    pub(super) fn of_f64(value: f64) -> Self {
        let bits = value.to_bits() & (u64::MAX >> 1);
        let mantissa = bits & ((1 << 52) - 1);
        match bits >> 52 {
            0 => Binary { mantissa, exponent: -1074 },
            biased => Binary { mantissa: mantissa | 1 << 52, exponent: biased as i32 - 1075 },
        }
    }

    /// The number to `count` digits, of which no more than 17 may be asked for.
    #[inline]
    fn scaled(self, count: u32) -> Option<Scaled> {
        let shift = self.mantissa.leading_zeros();
        let mantissa = u128::from(self.mantissa << shift);
        let exponent = self.exponent - shift as i32;
        // 1262611 / 2^22 is the logarithm of 2 closely enough that this is its floor for the power of two; it is right or
        // one too small for the number, which then has a digit too many.
        let estimate = ((exponent + 63) * 1_262_611) >> 22;
        for first in [estimate, estimate + 1] {
            let power = PowerOfTen::of(count as i32 - 1 - first)?;
            // The product without its 64 lowest bits.
            let lowest = mantissa * (power.significand & (ONE - 1));
            let product = mantissa * (power.significand >> 64) + (lowest >> 64);
            // The product is at least 2^190 and stands for less than 2^60, so this shifts by 2 to 64 bits.
            let down = -(exponent + power.exponent) as u32 - 128;
            let fixed = product >> down;
            if fixed >> 64 < u128::from(10u64.pow(count)) {
                let exact = power.exact && fixed << down == product && lowest & (ONE - 1) == 0;
                let half_gap = power.significand >> (down + 65 - shift);
                return Some(Scaled { fixed, half_gap, exact, exponent: first });
            }
        }
        None
    }

    /// The number rounded to `count` digits, ties to even.
    #[inline]
    pub(super) fn rounded(self, count: u32) -> Option<Decimal> {
        self.scaled(count)?.rounded(count)
    }

    /// The number rounded to `short` digits if that is nearer to it than to its neighbors, else to `long` digits; with
    /// how many digits there are.
    #[inline]
    pub(super) fn shortest(self, short: u32, long: u32) -> Option<(u32, Decimal)> {
        let scaled = self.scaled(long)?;
        let ratio = 10u64.pow(long - short);
        let whole = (scaled.fixed >> 64) as u64;
        let (digits, rest) = (whole / ratio, whole % ratio);
        // How far the number is above these digits, and half of the way to the next.
        let above = u128::from(rest) << 64 | scaled.fixed & (ONE - 1);
        let middle = u128::from(ratio) * (ONE / 2);
        let up = above > middle;
        let distance = if up { 2 * middle - above } else { above };
        let half_gap = if self.mantissa.is_power_of_two() { scaled.half_gap / 2 } else { scaled.half_gap };
        if distance + TOLERANCE < half_gap && above.abs_diff(middle) > TOLERANCE {
            return Some((short, Decimal::carried(digits + u64::from(up), scaled.exponent, short)));
        }
        // Between the two gaps of a power of two, and too near to where neighbors begin, nothing is known.
        let certain = distance > scaled.half_gap + TOLERANCE;
        if certain { Some((long, scaled.rounded(long)?)) } else { None }
    }
}

impl Scaled {
    /// The integer nearest to the number; `None` where the error of the number matters.
    fn rounded(&self, count: u32) -> Option<Decimal> {
        let whole = (self.fixed >> 64) as u64;
        let fraction = self.fixed & (ONE - 1);
        let half = ONE / 2;
        let up = if self.exact {
            fraction > half || (fraction == half && whole % 2 == 1)
        } else if fraction.abs_diff(half) > TOLERANCE {
            fraction > half
        } else {
            return None;
        };
        Some(Decimal::carried(whole + u64::from(up), self.exponent, count))
    }
}

impl Decimal {
    /// Digits that rounding may have made one too many, a one and zeros.
    fn carried(digits: u64, exponent: i32, count: u32) -> Self {
        if digits == 10u64.pow(count) {
            return Decimal { digits: digits / 10, exponent: exponent + 1 };
        }
        Decimal { digits, exponent }
    }

    /// The digits and the exponent of `d.ddde±x`, as the standard library spells numbers.
    fn read(text: &str) -> Self {
        let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let digits = digits.bytes().filter(u8::is_ascii_digit).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        Decimal { digits, exponent: exponent.parse().unwrap_or(0) }
    }

    /// A positive number rounded to `count` digits, ties to even, by the standard library.
    pub(super) fn of_any(value: f64, count: u32) -> Self {
        Self::read(&format!("{value:.*e}", count as usize - 1))
    }

    /// `d.ddde±x` without the point.
    pub(super) fn scientific(self, count: u32) -> String {
        format!("{}e{}", self.digits, self.exponent + 1 - count as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_decimals_and_halves_are_exact() {
        let rounded = |value: f64, count| Binary::of_f64(value).rounded(count).unwrap();
        assert_eq!(rounded(0.5, 1), Decimal { digits: 5, exponent: -1 });
        assert_eq!(rounded(9.5, 1), Decimal { digits: 1, exponent: 1 });
        assert_eq!(rounded(1.03125, 5), Decimal { digits: 10312, exponent: 0 });
        assert_eq!(rounded(1.09375, 5), Decimal { digits: 10938, exponent: 0 });
        assert_eq!(rounded(0.1, 17), Decimal { digits: 10_000_000_000_000_001, exponent: -1 });
        assert_eq!(Binary::of_f64(0.25).shortest(15, 17).unwrap().0, 15);
        assert_eq!(Binary::of_f64(0.1 + 0.2).shortest(15, 17).unwrap().0, 17);
    }

    proptest! {
        /// What is not left to the standard library is what it says.
        #[test]
        fn digits_are_those_of_exact_rounding(bits in 1u64..0x7ff0_0000_0000_0000, count in 1u32..=17) {
            let value = f64::from_bits(bits);
            let found = Binary::of_f64(value).rounded(count);
            prop_assert_eq!(found, Some(Decimal::of_any(value, count)));
        }

        /// Numbers of few bits are near to ties, or are ties.
        #[test]
        fn ties_are_found(mantissa in 1u64..4096, exponent in -140i32..120, count in 1u32..=17) {
            let value = mantissa as f64 * 2f64.powi(exponent);
            if let Some(found) = (Binary { mantissa, exponent }).rounded(count) {
                prop_assert_eq!(found, Decimal::of_any(value, count));
            }
        }
    }
}
