//! Transcendental functions of floats with significands of at most 24 bits, computed in `f64`.
//!
//! Loops over them have no branch and call nothing, so that they become vector instructions, which functions of the system's
//! library do not. Relative errors are below 2^-46: of 2^18 `f32`s, one at most is rounded to the other neighbor of the value.
//! They are the same on every machine.

/// Adding it leaves the integer nearest to a number of less than 2^51 in the lowest bits.
pub(super) const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// The value of a polynomial, given from the highest power down. Odd and even powers are summed apart, and do not wait for each
/// other.
#[inline]
pub(super) fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let square = x * x;
    let sum = |first: usize| {
        let (start, rest) = (coefficients[first], coefficients[first + 2..].iter().step_by(2));
        rest.fold(start, |sum, coefficient| sum * square + coefficient)
    };
    let (first, second) = (sum(0), sum(1));
    if N.is_multiple_of(2) { first * x + second } else { first + second * x }
}

#[cfg(test)]
mod tests {
    use crate::eval::scalar::{circular, exponential, logarithm};

    /// Relative errors against the system's library, and how often an `f32` is another.
    fn compare(name: &str, ours: fn(f64) -> f64, theirs: fn(f64) -> f64, is_meant: fn(f32) -> bool) {
        let (mut others, mut all) = (0u32, 0u32);
        for bits in (0..=u32::MAX).step_by(1009) {
            let x = f32::from_bits(bits);
            if !is_meant(x) {
                continue;
            }
            let (a, b) = (ours(x.into()), theirs(x.into()));
            assert_eq!(a.is_nan(), b.is_nan(), "{name}({x}) is {a} and not {b}");
            if b.is_nan() {
                continue;
            }
            if b.abs() > 2f64.powi(-151) && b.abs() < 2f64.powi(129) {
                assert!(((a - b) / b).abs() < 2f64.powi(-46), "{name}({x}) is {a} and not {b}");
            }
            let (a, b) = (a as f32, b as f32);
            let apart = (i64::from(a.to_bits()) - i64::from(b.to_bits())).abs();
            assert!(apart <= 1, "{name}({x}) is {a} and not {b}");
            others += u32::try_from(apart).unwrap_or(u32::MAX);
            all += 1;
        }
        println!("{name}: {others} of {all} differ");
        assert!(others <= all >> 18, "{name}: {others} of {all} differ");
    }

    #[test]
    fn they_are_those_of_the_library() {
        let any = |_: f32| true;
        compare("exp", exponential::exp, f64::exp, any);
        compare("exp_m1", exponential::exp_m1, f64::exp_m1, any);
        compare("tanh", exponential::tanh, f64::tanh, any);
        compare("cbrt", exponential::cbrt, f64::cbrt, any);
        compare("ln", logarithm::ln, f64::ln, any);
        compare("ln_1p", logarithm::ln_1p, f64::ln_1p, any);
        let near = |x: f32| circular::is_near(x.into());
        compare("sin", circular::sin, f64::sin, near);
        compare("cos", circular::cos, f64::cos, near);
        compare("tan", circular::tan, f64::tan, near);
    }

    #[test]
    fn angles_are_those_of_the_library() {
        let sizes =
            [0.0, f32::from_bits(1), 1e-30, 0.1, 0.41, 0.42, 0.99, 1.0, 1.01, 3.0, 1e30, f32::MAX, f32::INFINITY];
        let numbers = || sizes.into_iter().chain([f32::NAN]).flat_map(|x| [x, -x]).map(f64::from);
        for (y, x) in numbers().flat_map(|y| numbers().map(move |x| (y, x))) {
            let (a, b) = (circular::atan2(y, x) as f32, y.atan2(x) as f32);
            assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "atan2({y}, {x}) is {a} and not {b}");
        }
        let mut bits = 1u32;
        for _ in 0..100_000 {
            let mut next = || {
                bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(f32::from_bits(bits))
            };
            let (y, x) = (next(), next());
            let (a, b) = (circular::atan2(y, x), y.atan2(x));
            assert!(
                ((a - b) / b).abs() < 2f64.powi(-46) || (a as f32) == b as f32 || b.is_nan(),
                "atan2({y}, {x}) is {a}"
            );
        }
    }
}
