// The arcsine, after Cephes' asinf: a polynomial up to 1/2, beyond it by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
fn asin_f32(x: f32) -> f32 {
    let a = abs(x);
    let is_large = a > f32(0.5);
    let p = asin_polynomial_f32(select(x, keep(sqrt(0.5 * (1.0 - a))), is_large));
    let angle = select(p, copy_sign_f32(1.5707963267948966 - (p + p), x), is_large);
    // Beyond 1, or NaN: bits of numbers without a sign are ordered as the numbers are, and NaN comes last.
    return select(angle, nan_f32(), bitcast<u32>(a) > u32(0x3f800000u));
}
