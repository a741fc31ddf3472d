// exp(x) = 2^n exp(r) with r = x - n ln(2), after Cephes' expf, where that is a normal number; anything elsewhere. n is the lower bits of
// a sum in which each is worth 1, rounded to the nearest. ln(2) comes in two parts, so that n times the first is exact; keep() stops
// drivers from adding the parts, and from taking the sum apart.
fn exp_inner_f32(x: f32) -> f32 {
    let sum = keep(x * 1.44269504 + 12582912.0);
    let n = sum - 12582912.0;
    let r = keep(x - n * 0.693359375) + n * 2.12194440e-4;
    return bitcast<f32>(bitcast<u32>(exponential_polynomial_f32(r) + 1.0) + (bitcast<u32>(sum) << u32(23u)));
}
