// log(1 + x), by the logarithm of what 1 + x is rounded to, and what that lost; NaN below -1.
fn log1p_f64(x: f64) -> f64 {
    let is_normal = (x > -1.0) & is_finite_f64(x);
    let y = select(0.0lf, x, is_normal);
    let sum = keep_f64(1.0 + y);
    let lost = select(1.0 - keep_f64(sum - y), y - keep_f64(sum - 1.0), abs(y) < 1.0);
    let parts = significand_f64(sum);
    let log = log_polynomial_f64(keep_f64(parts.x - 1.0), parts.y, lost / sum);
    let other = select(select(nan_f64(), x, x > 0.0), -infinity_f64(), x == -1.0);
    return select(select(other, log, is_normal), x, is_nan_f64(x) | (abs(x) < 1e-16));
}
