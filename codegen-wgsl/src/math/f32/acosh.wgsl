// The inverse hyperbolic cosine, after fdlibm: through log1p of x - 1, which is exact near 1 and kept, for
// 2t + t^2 would be x^2 - 1 to a driver; log(2x) where x^2 may overflow; NaN below 1.
fn acosh_f32(x: f32) -> f32 {
    let t = keep(x - 1.0);
    let is_large = x > f32(1e4);
    let y = log1p_f32(select(keep(t + sqrt(2.0 * t + keep(t * t))), t, is_large));
    return select(y + select(f32(0.0), f32(0.6931471805599453), is_large), nan_f32(), is_nan_f32(x) | (x < f32(1.0)));
}
