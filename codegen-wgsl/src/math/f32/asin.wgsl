// The arcsine, after Cephes' asinf: a polynomial up to 1/2, beyond it by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
fn asin_f32(x: f32) -> f32 {
    let a = abs(x);
    // Beyond 1, or NaN: bits of numbers without a sign are ordered as the numbers are, and NaN comes last.
    if (bitcast<u32>(a) > 0x3f800000u) {
        return nan_f32();
    }
    if (a <= 0.5) {
        return asin_polynomial_f32(x);
    }
    let y = asin_polynomial_f32(keep(sqrt(0.5 * (1.0 - a))));
    return copy_sign_f32(1.5707963267948966 - 2.0 * y, x);
}
