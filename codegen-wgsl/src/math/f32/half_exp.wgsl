// exp(x) / 2 for x >= 0, also where exp(x) itself is too great: exp_f32 with one less in the exponent.
fn half_exp_f32(x: f32) -> f32 {
    let n = floor(x * 1.44269504 + 0.5);
    let r = keep(x - n * 0.693359375) + n * 2.12194440e-4;
    let bits = bitcast<u32>(exponential_polynomial_f32(r) + 1.0) + ((whole_f32(n) - u32(1u)) << u32(23u));
    return select(select(bitcast<f32>(bits), infinity_f32(), x > f32(89.41598)), x, is_nan_f32(x));
}
