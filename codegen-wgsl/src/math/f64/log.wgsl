// The natural logarithm: NaN below zero, minus infinity at either zero.
fn log_f64(x: f64) -> f64 {
    let is_normal = (x > 0.0) & is_finite_f64(x);
    let parts = significand_f64(select(1.0lf, x, is_normal));
    let y = log_polynomial_f64(keep_f64(parts.x - 1.0), parts.y, 0.0lf);
    let other = select(select(nan_f64(), x, x > 0.0), -infinity_f64(), x == 0.0);
    return select(select(other, y, is_normal), x, is_nan_f64(x));
}
