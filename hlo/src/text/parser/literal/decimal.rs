//! Exact comparison of decimals with floats.
//!
//! A decimal is read into a small format through the `f64` nearest to it, without rounding twice: rounding to the small
//! format can only differ where that `f64` is the middle between two of its values, and then the decimal itself is
//! compared with the middle, digit by digit.

use std::cmp::Ordering;

/// How many digits the middles between two values of a small format have at most: those of `bf16` are integers of up
/// to nine bits times `2^-134`, which is `5^134 / 10^134`.
const MIDDLE_DIGITS: usize = 100;

/// Compares the magnitude of `text`, a decimal without blanks, with that of `middle`, the middle between two values of
/// a small format.
pub(super) fn compare(text: &str, middle: f64) -> Ordering {
    let exact = format!("{:.*e}", MIDDLE_DIGITS, middle.abs());
    let (text, exact) = (Scientific::of(text), Scientific::of(&exact));
    match (text.first(), exact.first()) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(left), Some(right)) => left.cmp(&right).then_with(|| text.compare_digits(&exact)),
    }
}

/// A decimal without its sign.
struct Scientific<'a> {
    /// Digits and at most one point, without leading zeros.
    digits: &'a str,
    /// The power of ten of the digit before the point, or before the place where one would be.
    exponent: i64,
    /// How many digits precede the point; negative for zeros that follow it and are not in `digits`.
    whole: i64,
}

impl<'a> Scientific<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        // Where the exponent does not fit, the digits do not matter: no text has that many.
        let negative = exponent.starts_with('-');
        let exponent = exponent.parse().unwrap_or(if negative { i64::MIN / 2 } else { i64::MAX / 2 });
        let point = mantissa.find('.').unwrap_or(mantissa.len());
        let start = mantissa.find(|digit: char| !matches!(digit, '0' | '.')).unwrap_or(mantissa.len());
        let whole = if start < point { (point - start) as i64 } else { point as i64 + 1 - start as i64 };
        Scientific { digits: &mantissa[start..], exponent, whole }
    }

    fn significant(&self) -> impl Iterator<Item = u8> + '_ {
        self.digits.bytes().filter(u8::is_ascii_digit)
    }

    /// The power of ten that the first digit counts, up to a constant; `None` for zero.
    fn first(&self) -> Option<i64> {
        (!self.digits.is_empty()).then(|| self.exponent.saturating_add(self.whole))
    }

    /// The order of two decimals whose first digits count the same power of ten.
    fn compare_digits(&self, other: &Self) -> Ordering {
        let zeros = std::iter::repeat(b'0');
        let length = self.digits.len().max(other.digits.len());
        self.significant().chain(zeros.clone()).take(length).cmp(other.significant().chain(zeros).take(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_compare_by_value() {
        for (text, middle, expected) in [
            ("2.5", 2.5, Ordering::Equal),
            ("-0002.500", 2.5, Ordering::Equal),
            ("25e-1", -2.5, Ordering::Equal),
            ("0.00025E+4", 2.5, Ordering::Equal),
            ("2.50000000000000000000000000001", 2.5, Ordering::Greater),
            ("2.49999999999999999999999999999", 2.5, Ordering::Less),
            ("250", 2.5, Ordering::Greater),
            ("1e1", 9.5, Ordering::Greater),
            ("0.95e1", 9.5, Ordering::Equal),
            ("0", 0.5, Ordering::Less),
            ("0.5", 0.0, Ordering::Greater),
            ("0.000", 0.0, Ordering::Equal),
            ("1e-99999999999999999999", 0.5, Ordering::Less),
            ("1e99999999999999999999", 0.5, Ordering::Greater),
        ] {
            assert_eq!(compare(text, middle), expected, "{text} and {middle}");
        }
    }

    #[test]
    fn the_middles_of_all_formats_have_few_digits() {
        for exponent in -134i32..=120 {
            for integer in [1u32, 3, 255, 257, 509, 511, 2047] {
                let middle = f64::from(integer) * 2f64.powi(exponent);
                let exact = format!("{middle:.*e}", MIDDLE_DIGITS);
                assert_eq!(exact, format!("{middle:.300e}").replacen(&"0".repeat(200), "", 1).as_str(), "{middle:e}");
            }
        }
    }
}
