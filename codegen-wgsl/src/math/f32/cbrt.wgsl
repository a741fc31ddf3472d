// The cube root: x = m 8^k with m in [1, 8), a guess at the root of m by a third of its bits (after fdlibm's cbrt),
// then one step of Halley's and one of Newton's method.
fn cbrt_f32(x: f32) -> f32 {
    let a = abs(x);
    if (bitcast<u32>(a) == 0u || !is_finite_f32(x)) {
        return x;
    }
    // Exponents are counted from -300, a multiple of 3 below all of them; normal_bits_f32 adds 149 to a subnormal one.
    let bits = normal_bits_f32(a);
    let exponent = (bits >> 23u) + 300u - 127u - select(0u, 149u, bitcast<u32>(a) < 0x00800000u);
    let m = bitcast<f32>(((exponent % 3u + 127u) << 23u) | (bits & 0x007fffffu));
    var t = bitcast<f32>(bitcast<u32>(m) / 3u + 0x2a5137a0u);
    let cube = t * t * t;
    t = t * (cube + 2.0 * m) / (2.0 * cube + m);
    t = t - (t * t * t - m) / (3.0 * t * t);
    return copy_sign_f32(scale_f32(t, i32(exponent / 3u) - 100), x);
}
