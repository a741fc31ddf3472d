//! Divisors of numbers.

/// The greatest common divisor of the magnitudes, where it fits; zero for two zeros.
pub(crate) fn common_divisor(a: i64, b: i64) -> Option<i64> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).ok()
}
