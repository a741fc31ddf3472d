// The sine of x in radians, accurate for every finite x; NaN for infinities.
fn sin_f32(x: f32) -> f32 {
    var quadrant: u32;
    let r = reduce_quadrant_f32(abs(x), &quadrant);
    let is_cosine = (quadrant & u32(1u)) == u32(1u);
    let y = select(sin_polynomial_f32(r), cos_polynomial_f32(r), is_cosine);
    // Negative in the lower quadrants, and turned with the sign of x.
    let sign = ((quadrant & u32(2u)) << u32(30u)) ^ (bitcast<u32>(x) & u32(0x80000000u));
    return select(nan_f32(), bitcast<f32>(bitcast<u32>(y) ^ sign), is_finite_f32(x));
}
