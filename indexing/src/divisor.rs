//! Divisors of numbers.

/// The greatest common divisor of the magnitudes, where it fits; zero for two zeros.
pub(crate) fn common_divisor(a: i64, b: i64) -> Option<i64> {
    i64::try_from(num_integer::gcd(a.unsigned_abs(), b.unsigned_abs())).ok()
}
