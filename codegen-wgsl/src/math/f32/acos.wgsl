// The arccosine, by the cases of asin_f32; near 1 it is twice an arcsine, so nothing cancels.
fn acos_f32(x: f32) -> f32 {
    let a = abs(x);
    // Beyond 1, or NaN: bits of numbers without a sign are ordered as the numbers are, and NaN comes last.
    if (bitcast<u32>(a) > 0x3f800000u) {
        return nan_f32();
    }
    if (a <= 0.5) {
        return 1.5707963267948966 - asin_polynomial_f32(x);
    }
    let y = 2.0 * asin_polynomial_f32(keep(sqrt(0.5 * (1.0 - a))));
    return select(y, 3.141592653589793 - y, x < 0.0);
}
