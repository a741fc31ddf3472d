// The inverse hyperbolic tangent, log((1 + x) / (1 - x)) / 2 through log1p; infinite at 1, NaN beyond.
fn atanh_f32(x: f32) -> f32 {
    let a = abs(x);
    let d = a + a;
    let q = d / (1.0 - a);
    let y = 0.5 * log1p_f32(keep(select(q, d + q * a, a < f32(0.5))));
    let inner = copy_sign_f32(select(y, infinity_f32(), a == f32(1.0)), x);
    // Beyond 1, or NaN: bits of numbers without a sign are ordered as the numbers are, and NaN comes last.
    return select(inner, nan_f32(), bitcast<u32>(a) > u32(0x3f800000u));
}
