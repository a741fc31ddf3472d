// The inverse hyperbolic sine, after fdlibm: through log1p, so that nothing cancels near zero; log(2x) where x^2 may
// overflow.
fn asinh_f32(x: f32) -> f32 {
    let a = abs(x);
    let z = a * a;
    let is_large = a > f32(1e4);
    let y = log1p_f32(select(keep(a + z / (1.0 + sqrt(1.0 + z))), keep(a - 1.0), is_large));
    return copy_sign_f32(y + select(f32(0.0), f32(0.6931471805599453), is_large), x);
}
