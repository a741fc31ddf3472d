// The cosine of x in radians, accurate for every finite x; NaN for infinities.
fn cos_f64(x: f64) -> f64 {
    var quadrant: u32;
    let r = reduce_quadrant_f64(select(0.0lf, abs(x), is_finite_f64(x)), &quadrant);
    let y = select(cos_polynomial_f64(r), sin_polynomial_f64(r), (quadrant & 1u) == 1u);
    // Negative in the second quadrant and the third.
    let sign = ((quadrant + 1u) & 2u) << 30u;
    return select(nan_f64(), join_f64(low_f64(y), high_f64(y) ^ sign), is_finite_f64(x));
}
