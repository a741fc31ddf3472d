// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1) with r as in exp_f32; keep() holds the last term together, for its
// difference is exact where it matters.
fn expm1_f32(x: f32) -> f32 {
    if (is_nan_f32(x) || abs(x) < 1e-8) {
        return x;
    }
    if (x > 20.0) {
        return exp_f32(x);
    }
    if (x < -18.0) {
        return -1.0;
    }
    let n = floor(x * 1.44269504 + 0.5);
    let r = keep(x - n * 0.693359375) + n * 2.12194440e-4;
    let scale = scale_f32(1.0, i32(n));
    return scale * exponential_polynomial_f32(r) + keep(scale - 1.0);
}
