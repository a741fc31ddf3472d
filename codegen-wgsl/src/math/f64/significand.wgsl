// The m in [sqrt(1/2), sqrt(2)) and the n with x = m 2^n, for positive finite x.
fn significand_f64(x: f64) -> vec2<f64> {
    let is_subnormal = x < 2.2250738585072014e-308;
    let y = select(x, x * 18014398509481984.0, is_subnormal);
    let high = high_f64(y) + (0x3ff00000u - 0x3fe6a09eu);
    let n = i32(high >> 20u) - 1023 - select(0, 54, is_subnormal);
    return vec2<f64>(join_f64(low_f64(y), (high & 0x000fffffu) + 0x3fe6a09eu), f64(n));
}
