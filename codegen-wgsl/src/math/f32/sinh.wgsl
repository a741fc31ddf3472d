// The hyperbolic sine: Cephes' polynomial up to 1, then (exp(x) - exp(-x)) / 2.
fn sinh_f32(x: f32) -> f32 {
    let a = abs(x);
    let z = x * x;
    let small = ((2.03721912945e-4 * z + 8.33028376239e-3) * z + 1.66667160211e-1) * z * x + x;
    let e = half_exp_f32(a);
    return select(copy_sign_f32(e - 0.25 / e, x), small, a <= f32(1.0));
}
