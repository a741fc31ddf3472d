// log(1 + x), after fdlibm: 1 + x is rounded to u = m 2^e, and what the rounding lost is put back into m.
fn log1p_f32(x: f32) -> f32 {
    let u = keep(1.0 + x);
    let lost = select(x - keep(u - 1.0), 1.0 - keep(u - x), x > f32(1.0));
    let e = significand_exponent_f32(u);
    let scale = bitcast<f32>(bitcast<u32>(max(127 - e, i32(0))) << u32(23u));
    let f = keep(keep(significand_f32(u) - 1.0) + scale * lost);
    let y = log_polynomial_f32(f, f32(e));
    let other = select(nan_f32(), -infinity_f32(), x == f32(-1.0));
    let is_itself = is_nan_f32(x) | (bitcast<u32>(x) == u32(0x7f800000u)) | (abs(x) < f32(1e-8));
    return select(select(y, other, x <= f32(-1.0)), x, is_itself);
}
