// The tangent of x in radians, after Cephes' tanf; NaN for infinities.
fn tan_f32(x: f32) -> f32 {
    var quadrant: u32;
    let r = reduce_quadrant_f32(abs(x), &quadrant);
    let z = r * r;
    let p = ((((9.38540185543e-3 * z + 3.11992232697e-3) * z + 2.44301354525e-2) * z + 5.34112807005e-2) * z
        + 1.33387994085e-1) * z + 3.33331568548e-1;
    let t = p * z * r + r;
    let y = select(t, -1.0 / t, (quadrant & u32(1u)) == u32(1u));
    return select(nan_f32(), bitcast<f32>(bitcast<u32>(y) ^ (bitcast<u32>(x) & u32(0x80000000u))), is_finite_f32(x));
}
