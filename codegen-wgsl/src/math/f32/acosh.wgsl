// The inverse hyperbolic cosine, after fdlibm: through log1p of x - 1, which is exact near 1 and kept, for
// 2t + t^2 would be x^2 - 1 to a driver; NaN below 1.
fn acosh_f32(x: f32) -> f32 {
    if (is_nan_f32(x) || x < 1.0) {
        return nan_f32();
    }
    if (x > 1e4) {
        return log_f32(x) + 0.6931471805599453;
    }
    let t = keep(x - 1.0);
    return log1p_f32(keep(t + sqrt(2.0 * t + t * t)));
}
