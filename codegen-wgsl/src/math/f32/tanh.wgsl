// The hyperbolic tangent, after Cephes' tanhf: an odd polynomial near zero, else 1 - 2 / (exp(2x) + 1), which rounds to 1 from 10 on.
fn tanh_f32(x: f32) -> f32 {
    let a = select(abs(x), f32(10.0), abs(x) > f32(10.0));
    let z = a * a;
    let p = (((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1) * z
        - 3.33332819422e-1;
    let large = 1.0 - 2.0 / (exp_inner_f32(a + a) + 1.0);
    return select(copy_sign_f32(select(large, a * z * p + a, a < f32(0.625)), x), x, is_nan_f32(x));
}
