// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), at half the size, which is finite where the result is.
fn expm1_f64(x: f64) -> f64 {
    let within = select(select(x, 710.0lf, x > 710.0), -50.0lf, x < -50.0);
    let is_itself = is_nan_f64(x) | (abs(x) < 1e-17);
    let parts = exp_parts_f64(select(within, 0.0lf, is_itself));
    let half = join_f64(0u, u32(i32(parts.y) + 1022) << 20u);
    return select(2.0 * (half * parts.x + keep_f64(half - 0.5)), x, is_itself);
}
