//! What results are measured against: `f64`, and units in the last place of `f32`.

/// The error function, by the series of Kummer's function, whose terms are all of one sign.
pub(crate) fn erf(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 {
        return x;
    }
    if x.abs() > 6.0 {
        return x.signum();
    }
    let mut term = x;
    let mut sum = 0.0;
    let mut n = 0.0;
    while sum + term != sum {
        sum += term;
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// -1, 1, or `x` where it is zero or NaN.
pub(crate) fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { x.signum() }
}

/// HLO's maximum: NaN if either is, and the greater of two zeros.
pub(crate) fn maximum(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        if x.is_sign_positive() { x } else { y }
    } else {
        x.max(y)
    }
}

/// How far `got` lies from `want`, in units in the last place of an `f32` of the size of `want`.
///
/// Zero where special values are as they should be, infinite where they are not. What is below the normal range may be
/// flushed to zero.
pub(crate) fn distance(got: f32, want: f64) -> f64 {
    let miss = |wrong: bool| if wrong { f64::INFINITY } else { 0.0 };
    let least = f64::from(f32::MIN_POSITIVE);
    if want.is_nan() || got.is_nan() {
        return miss(want.is_nan() != got.is_nan());
    }
    if want == 0.0 {
        return miss(got != 0.0 || got.is_sign_negative() != want.is_sign_negative());
    }
    if want.abs() < least {
        let opposite = got != 0.0 && got.is_sign_negative() != want.is_sign_negative();
        return miss(f64::from(got).abs() > least || opposite);
    }
    if (want as f32).is_infinite() {
        // Just above the greatest number either neighbour will do.
        return miss(got.is_sign_negative() != want.is_sign_negative() || got.abs() < f32::MAX);
    }
    if got.is_infinite() {
        // An infinity stands for the number that would follow the greatest.
        let follower = f64::from(f32::MAX) + (2f64).powi(104);
        return (f64::from(got.signum()) * follower - want).abs() / (2f64).powi(104);
    }
    let exponent = (want.abs().to_bits() >> 52) as i32 - 1023;
    (f64::from(got) - want).abs() / (2f64).powi(exponent - 23)
}
