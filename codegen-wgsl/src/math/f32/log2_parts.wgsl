// log2(x) for finite x > 0 as the sum of two numbers, the first of 12 significant bits; good to about 2^-30. After
// fdlibm's powf: log(m) = 2 (s + s^3/3 + ...) with s = (m - 1) / (m + 1), of which s and the leading terms are carried
// in two parts.
fn log2_parts_f32(x: f32, low: ptr<function, f32>) -> f32 {
    let m = significand_f32(x);
    let e = f32(significand_exponent_f32(x));
    let f = keep(m - 1.0);
    let d = keep(m + 1.0);
    let s = f / d;
    let s_high = truncate_significand_f32(s);
    let d_high = truncate_significand_f32(d);
    let d_low = m - keep(d_high - 1.0);
    let s_low = keep(keep(f - s_high * d_high) - s_high * d_low) / d;
    // 2 / ln(2) times the odd powers from the third on.
    let z = s * s;
    let p = (((0.262308189252539 * z + 0.320598897975325) * z + 0.412198583111132) * z + 0.577078016355585) * z
        + 0.961796693925976;
    let tail = s * z * p;
    // 2 / ln(2) in two parts, the first of 12 bits.
    let a = s_high * 2.884765625;
    let b = s_high * 6.24456777926e-4 + s_low * 2.885390081777927 + tail;
    let high = truncate_significand_f32(e + a + b);
    *low = keep(keep(e - high) + a) + b;
    return high;
}
