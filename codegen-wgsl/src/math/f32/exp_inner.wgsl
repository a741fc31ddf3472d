// exp(x) = 2^n exp(r) with r = x - n ln(2), after Cephes' expf, where that is a normal number; anything elsewhere. ln(2) comes in two
// parts, so that n times the first is exact; keep() stops drivers from adding the parts.
fn exp_inner_f32(x: f32) -> f32 {
    let n = floor(x * 1.44269504 + 0.5);
    let r = keep(x - n * 0.693359375) + n * 2.12194440e-4;
    return bitcast<f32>(bitcast<u32>(exponential_polynomial_f32(r) + 1.0) + (whole_f32(n) << u32(23u)));
}
