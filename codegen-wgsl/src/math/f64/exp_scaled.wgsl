// 2^extra exp(x), rounded as one number, for small extra.
fn exp_scaled_f64(x: f64, extra: i32) -> f64 {
    let within = select(select(x, 800.0lf, x > 800.0), -800.0lf, x < -800.0);
    let parts = exp_parts_f64(select(within, 0.0lf, is_nan_f64(x)));
    return select(scale_f64(keep_f64(1.0 + parts.x), i32(parts.y) + extra), x, is_nan_f64(x));
}
