// The area hyperbolic cosine; NaN below 1.
fn acosh_f64(x: f64) -> f64 {
    let is_large = x > 1e9;
    let t = keep_f64(select(x, 1.0lf, is_large) - 1.0);
    let near = log1p_f64(keep_f64(t + sqrt(keep_f64(2.0 * t) + t * t)));
    let far = log_f64(x) + 0.6931471805599453;
    return select(select(select(near, far, is_large), nan_f64(), x < 1.0), x, is_nan_f64(x));
}
