// The arcsine, after Cephes' asinf: a polynomial up to 1/2, beyond it by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
fn asin_f32(x: f32) -> f32 {
    let a = abs(x);
    if (!(a <= 1.0)) {
        return nan_f32();
    }
    if (a <= 0.5) {
        return asin_polynomial_f32(x);
    }
    let y = asin_polynomial_f32(sqrt(0.5 * (1.0 - a)));
    return copy_sign_f32(1.5707963267948966 - 2.0 * y, x);
}
