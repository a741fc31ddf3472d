//! Exact fractions of counts, and common divisors.

use std::cmp::Ordering;
use std::fmt;

use num_integer::gcd;

/// A fraction of two counts in lowest terms; the denominator is never zero.
///
/// ```
/// use weft_indexing::Rational;
///
/// let half = Rational::new(6, 12).expect("a denominator");
/// assert_eq!((half.numerator(), half.denominator(), half.to_string()), (1, 2, "1/2".to_owned()));
/// assert!(half < Rational::new(2, 3).expect("a denominator"));
/// assert_eq!(Rational::new(1, 0), None);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Rational {
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    numerator: u128,
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    denominator: u128,
}

impl Rational {
    /// `numerator / denominator` in lowest terms; nothing for a denominator of zero.
    pub fn new(numerator: u128, denominator: u128) -> Option<Rational> {
        let divisor = gcd(numerator, denominator);
        (denominator != 0).then(|| Rational { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The number above the line.
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// The number below the line.
    pub fn denominator(self) -> u128 {
        self.denominator
    }
}

impl Ord for Rational {
    /// Compares the integer parts and, where those agree, the reciprocals of the rests: Euclid's algorithm, which needs no
    /// product.
    fn cmp(&self, other: &Rational) -> Ordering {
        let (mut a, mut b) = ((self.numerator, self.denominator), (other.numerator, other.denominator));
        let mut turned = false;
        loop {
            let (whole, rest) = ((a.0 / a.1, b.0 / b.1), (a.0 % a.1, b.0 % b.1));
            let order = whole.0.cmp(&whole.1).then((rest.0 != 0).cmp(&(rest.1 != 0)));
            if order != Ordering::Equal || rest.0 == 0 {
                return if turned { order.reverse() } else { order };
            }
            (a, b) = ((a.1, rest.0), (b.1, rest.1));
            turned = !turned;
        }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Rational) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            d => write!(f, "{}/{d}", self.numerator),
        }
    }
}

/// The greatest common divisor of the magnitudes, where it fits; zero for two zeros.
pub(crate) fn common_divisor(a: i64, b: i64) -> Option<i64> {
    i64::try_from(num_integer::gcd(a.unsigned_abs(), b.unsigned_abs())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_cross_products() {
        for (a, b) in (0..9u128).flat_map(|a| (1..9u128).map(move |b| (a, b))) {
            for (c, d) in (0..9u128).flat_map(|c| (1..9u128).map(move |d| (c, d))) {
                let (left, right) = (Rational::new(a, b).unwrap(), Rational::new(c, d).unwrap());
                assert_eq!(left.cmp(&right), (a * d).cmp(&(c * b)), "{left} and {right}");
            }
        }
        assert!(Rational::new(u128::MAX, 3) > Rational::new(u128::MAX - 1, 3));
    }
}
