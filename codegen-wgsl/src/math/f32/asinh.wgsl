// The inverse hyperbolic sine, after fdlibm: through log1p, so that nothing cancels near zero; log(2x) where x^2 may
// overflow.
fn asinh_f32(x: f32) -> f32 {
    let a = abs(x);
    if (a > 1e4) {
        return copy_sign_f32(log_f32(a) + 0.6931471805599453, x);
    }
    let z = a * a;
    return copy_sign_f32(log1p_f32(keep(a + z / (1.0 + sqrt(1.0 + z)))), x);
}
