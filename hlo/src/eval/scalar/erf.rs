//! The error function.

/// The error function of `x`, good to some units in the last place of `f64` up to 4; past that it rounds to 1 in `f32`.
pub(super) fn erf(x: f32) -> f32 {
    if x.is_nan() {
        return x;
    }
    let a = f64::from(x).abs();
    // 1 - erf(4) = 1.5e-8 is less than half the distance of 1 to the next smaller f32.
    let value = if a >= 4.0 { 1.0 } else { series(a) };
    (value as f32).copysign(x)
}

/// `erf(a) = 2/sqrt(pi) * exp(-a²) * sum of 2^n a^(2n+1) / (1·3·…·(2n+1))`, whose terms are all positive, so nothing
/// cancels.
fn series(a: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (a, a, 1.0);
    while term > sum * f64::EPSILON {
        odd += 2.0;
        term *= 2.0 * a * a / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-a * a).exp() * sum
}

#[cfg(test)]
mod tests {
    use super::erf;

    #[test]
    fn values_of_the_tables() {
        // Abramowitz and Stegun, table 7.1.
        for (x, value) in [
            (0.0f32, 0.0),
            (0.1, 0.112_462_916_0),
            (0.5, 0.520_499_877_8),
            (1.0, 0.842_700_792_9),
            (2.0, 0.995_322_265_0),
            (3.9, 0.999_999_965_2),
        ] {
            assert!((f64::from(erf(x)) - value).abs() < 1e-7, "erf({x}) = {}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
        assert_eq!(erf(f32::INFINITY), 1.0);
        assert_eq!(erf(-4.0), -1.0);
        assert!(erf(f32::NAN).is_nan());
        assert_eq!(erf(-0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(erf(1e-40), (f64::from(1e-40f32) * std::f64::consts::FRAC_2_SQRT_PI) as f32);
    }
}
