//! The integers of equations: of 128 bits, which are enough nearly always, and of any size.

use std::fmt::Debug;
use std::hash::Hash;

use num_bigint::BigInt;
use num_integer::Integer;

/// An integer. Operations give nothing where the result does not fit.
pub(super) trait Number: Clone + Debug + PartialEq + Eq + Hash + From<i128> {
    /// `self + a · b`.
    fn plus_product(&self, a: &Self, b: &Self) -> Option<Self>;
    /// The product.
    fn times(&self, other: &Self) -> Option<Self>;
    /// The quotient by a divisor of it.
    fn over(&self, divisor: &Self) -> Option<Self>;
    /// The greatest common divisor, which is not negative.
    fn common(&self, other: &Self) -> Option<Self>;
    /// The quotient rounded down, by a positive divisor.
    fn floor_div(&self, divisor: i64) -> Self;
    /// Whether it is less than zero.
    fn is_negative(&self) -> bool;

    /// Whether it is zero.
    fn is_zero(&self) -> bool {
        *self == Self::from(0)
    }

    /// Whether it is one.
    fn is_one(&self) -> bool {
        *self == Self::from(1)
    }
}

impl Number for i128 {
    fn plus_product(&self, a: &i128, b: &i128) -> Option<i128> {
        self.checked_add(a.checked_mul(*b)?)
    }

    fn times(&self, other: &i128) -> Option<i128> {
        self.checked_mul(*other)
    }

    fn over(&self, divisor: &i128) -> Option<i128> {
        self.checked_div(*divisor)
    }

    fn common(&self, other: &i128) -> Option<i128> {
        i128::try_from(num_integer::gcd(self.unsigned_abs(), other.unsigned_abs())).ok()
    }

    fn floor_div(&self, divisor: i64) -> i128 {
        self.div_euclid(i128::from(divisor))
    }

    fn is_negative(&self) -> bool {
        *self < 0
    }
}

impl Number for BigInt {
    fn plus_product(&self, a: &BigInt, b: &BigInt) -> Option<BigInt> {
        Some(self + a * b)
    }

    fn times(&self, other: &BigInt) -> Option<BigInt> {
        Some(self * other)
    }

    fn over(&self, divisor: &BigInt) -> Option<BigInt> {
        Some(self / divisor)
    }

    fn common(&self, other: &BigInt) -> Option<BigInt> {
        Some(self.gcd(other))
    }

    fn floor_div(&self, divisor: i64) -> BigInt {
        self.div_floor(&BigInt::from(divisor))
    }

    fn is_negative(&self) -> bool {
        *self < BigInt::from(0)
    }
}
