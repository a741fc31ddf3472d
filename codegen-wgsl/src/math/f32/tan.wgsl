// The tangent of x in radians, after Cephes' tanf; NaN for infinities.
fn tan_f32(x: f32) -> f32 {
    if (!is_finite_f32(x)) {
        return nan_f32();
    }
    let reduced = reduce_quadrant_f32(abs(x));
    let r = reduced.x;
    let z = r * r;
    let p = ((((9.38540185543e-3 * z + 3.11992232697e-3) * z + 2.44301354525e-2) * z + 5.34112807005e-2) * z
        + 1.33387994085e-1) * z + 3.33331568548e-1;
    var y = p * z * r + r;
    if ((u32(reduced.y) & 1u) == 1u) {
        y = -1.0 / y;
    }
    return select(y, -y, bitcast<u32>(x) >= 0x80000000u);
}
