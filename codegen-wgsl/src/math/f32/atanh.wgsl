// The inverse hyperbolic tangent, log((1 + x) / (1 - x)) / 2 through log1p; infinite at 1, NaN beyond.
fn atanh_f32(x: f32) -> f32 {
    let a = abs(x);
    // Beyond 1, or NaN: bits of numbers without a sign are ordered as the numbers are, and NaN comes last.
    if (bitcast<u32>(a) > 0x3f800000u) {
        return nan_f32();
    }
    if (a == 1.0) {
        return copy_sign_f32(infinity_f32(), x);
    }
    let d = a + a;
    let t = select(d / (1.0 - a), d + d * a / (1.0 - a), a < 0.5);
    return copy_sign_f32(0.5 * log1p_f32(keep(t)), x);
}
