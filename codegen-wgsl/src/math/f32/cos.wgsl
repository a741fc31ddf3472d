// The cosine of x in radians, accurate for every finite x; NaN for infinities.
fn cos_f32(x: f32) -> f32 {
    var quadrant: u32;
    let r = reduce_quadrant_f32(abs(x), &quadrant);
    let is_sine = (quadrant & u32(1u)) == u32(1u);
    let y = select(cos_polynomial_f32(r), sin_polynomial_f32(r), is_sine);
    // Negative in the two quadrants on the left.
    let sign = ((quadrant + 1u) & u32(2u)) << u32(30u);
    return select(nan_f32(), bitcast<f32>(bitcast<u32>(y) ^ sign), is_finite_f32(x));
}
