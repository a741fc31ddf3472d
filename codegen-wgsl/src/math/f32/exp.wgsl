// exp(x) = 2^n exp(r) with r = x - n ln(2), after Cephes' expf. ln(2) comes in two parts, so that n times the first is
// exact; keep() stops drivers from adding the parts. Results below 2^-126 are flushed to 0.
fn exp_f32(x: f32) -> f32 {
    if (is_nan_f32(x)) {
        return x;
    }
    let y = clamp(x, -90.0, 90.0);
    let n = floor(y * 1.44269504 + 0.5);
    let r = keep(y - n * 0.693359375) + n * 2.12194440e-4;
    return scale_f32(exponential_polynomial_f32(r) + 1.0, i32(n));
}
