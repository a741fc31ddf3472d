// The hyperbolic sine, of expm1 up to 22, where the other exponential is nothing beside it.
fn sinh_f64(x: f64) -> f64 {
    let a = abs(x);
    let t = expm1_f64(select(a, 22.0lf, a > 22.0));
    let small = keep_f64(2.0 * t - t * t / (t + 1.0));
    let middle = keep_f64(t + t / (t + 1.0));
    let y = select(select(exp_scaled_f64(a, -1), 0.5 * middle, a < 22.0), 0.5 * small, a < 1.0);
    return select(copy_sign_f64(select(y, a, a < 1e-9), x), x, is_nan_f64(x));
}
