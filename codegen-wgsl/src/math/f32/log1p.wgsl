// log(1 + x), after fdlibm: 1 + x is rounded to u = m 2^e, and what the rounding lost is put back into m.
fn log1p_f32(x: f32) -> f32 {
    if (is_nan_f32(x) || bitcast<u32>(x) == 0x7f800000u || abs(x) < 1e-8) {
        return x;
    }
    if (x <= -1.0) {
        return select(nan_f32(), -infinity_f32(), x == -1.0);
    }
    let u = keep(1.0 + x);
    let lost = select(x - keep(u - 1.0), 1.0 - keep(u - x), x > 1.0);
    let e = significand_exponent_f32(u);
    let f = keep(keep(significand_f32(u) - 1.0) + scale_f32(1.0, -e) * lost);
    return log_polynomial_f32(f, f32(e));
}
