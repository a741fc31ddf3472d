// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1) with r as in exp_f32, at half the size, which is finite where the result is; keep()
// holds the last term together, for its difference is exact where it matters.
fn expm1_f32(x: f32) -> f32 {
    let y = select(x, f32(-20.0), x < f32(-20.0));
    let n = floor(y * 1.44269504 + 0.5);
    let r = keep(y - n * 0.693359375) + n * 2.12194440e-4;
    let half = bitcast<f32>((whole_f32(n) + u32(126u)) << u32(23u));
    let difference = 2.0 * (half * exponential_polynomial_f32(r) + keep(half - 0.5));
    let large = select(difference, infinity_f32(), x > f32(88.72283));
    return select(large, x, is_nan_f32(x) | (abs(x) < f32(1e-8)));
}
