// exp(x) / 2 for x >= 0, also where exp(x) itself is too great: exp_f32 with one less in the exponent.
fn half_exp_f32(x: f32) -> f32 {
    if (is_nan_f32(x)) {
        return x;
    }
    let y = min(x, 90.0);
    let n = floor(y * 1.44269504 + 0.5);
    let r = keep(y - n * 0.693359375) + n * 2.12194440e-4;
    return scale_f32(exponential_polynomial_f32(r) + 1.0, i32(n) - 1);
}
