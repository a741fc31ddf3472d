// The sine of x in radians, accurate for every finite x; NaN for infinities.
fn sin_f32(x: f32) -> f32 {
    if (!is_finite_f32(x)) {
        return nan_f32();
    }
    let reduced = reduce_quadrant_f32(abs(x));
    let quadrant = u32(reduced.y);
    var y = select(sin_polynomial_f32(reduced.x), cos_polynomial_f32(reduced.x), (quadrant & 1u) == 1u);
    y = select(y, -y, quadrant >= 2u);
    return select(y, -y, bitcast<u32>(x) >= 0x80000000u);
}
