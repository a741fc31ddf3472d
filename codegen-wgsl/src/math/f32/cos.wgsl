// The cosine of x in radians, accurate for every finite x; NaN for infinities.
fn cos_f32(x: f32) -> f32 {
    if (!is_finite_f32(x)) {
        return nan_f32();
    }
    let reduced = reduce_quadrant_f32(abs(x));
    let quadrant = u32(reduced.y);
    let y = select(cos_polynomial_f32(reduced.x), sin_polynomial_f32(reduced.x), (quadrant & 1u) == 1u);
    return select(y, -y, quadrant == 1u || quadrant == 2u);
}
