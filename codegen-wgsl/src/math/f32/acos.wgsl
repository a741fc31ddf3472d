// The arccosine, by the cases of asin_f32; near 1 it is twice an arcsine, so nothing cancels.
fn acos_f32(x: f32) -> f32 {
    let a = abs(x);
    let is_large = a > f32(0.5);
    let p = asin_polynomial_f32(select(x, keep(sqrt(0.5 * (1.0 - a))), is_large));
    let y = p + p;
    let angle = select(1.5707963267948966 - p, select(y, 3.141592653589793 - y, x < f32(0.0)), is_large);
    // Beyond 1, or NaN: bits of numbers without a sign are ordered as the numbers are, and NaN comes last.
    return select(angle, nan_f32(), bitcast<u32>(a) > u32(0x3f800000u));
}
