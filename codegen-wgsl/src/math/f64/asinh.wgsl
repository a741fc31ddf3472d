// The area hyperbolic sine.
fn asinh_f64(x: f64) -> f64 {
    let a = abs(x);
    let is_large = a > 1e9;
    let b = select(a, 1.0lf, is_large);
    let near = log1p_f64(keep_f64(b + b * b / (1.0 + sqrt(b * b + 1.0))));
    let far = log_f64(a) + 0.6931471805599453;
    return select(copy_sign_f64(select(near, far, is_large), x), x, is_nan_f64(x) | (a < 1e-9));
}
