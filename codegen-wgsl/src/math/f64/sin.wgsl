// The sine of x in radians, accurate for every finite x; NaN for infinities.
fn sin_f64(x: f64) -> f64 {
    var quadrant: u32;
    let r = reduce_quadrant_f64(select(0.0lf, abs(x), is_finite_f64(x)), &quadrant);
    let y = select(sin_polynomial_f64(r), cos_polynomial_f64(r), (quadrant & 1u) == 1u);
    // Negative in the lower quadrants, and turned with the sign of x.
    let sign = ((quadrant & 2u) << 30u) ^ (high_f64(x) & 0x80000000u);
    return select(nan_f64(), join_f64(low_f64(y), high_f64(y) ^ sign), is_finite_f64(x));
}
