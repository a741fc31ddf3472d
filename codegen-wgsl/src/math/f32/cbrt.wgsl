// The cube root: x = m 8^k with m in [1, 8), a guess at the root of m by a third of its bits (after fdlibm's cbrt),
// then one step of Halley's and one of Newton's method.
fn cbrt_f32(x: f32) -> f32 {
    let a = abs(x);
    // Exponents are counted from -300, a multiple of 3 below all of them; normal_bits_f32 adds 149 to a subnormal one.
    let bits = bitcast<u32>(normal_bits_f32(a));
    let exponent = (bits >> u32(23u)) + 173u - select(u32(0u), u32(149u), bitcast<u32>(a) < u32(0x00800000u));
    let m = bitcast<f32>(((exponent % 3u + 127u) << u32(23u)) | (bits & u32(0x007fffffu)));
    let guess = bitcast<f32>(bitcast<u32>(m) / 3u + 0x2a5137a0u);
    let cube = guess * guess * guess;
    let t = guess * (cube + 2.0 * m) / (2.0 * cube + m);
    let root = t - (t * t * t - m) / (3.0 * t * t);
    let y = copy_sign_f32(scale_f32(root, bitcast<i32>(exponent / 3u) - 100), x);
    return select(x, y, is_finite_f32(x) & (bitcast<u32>(a) != u32(0u)));
}
