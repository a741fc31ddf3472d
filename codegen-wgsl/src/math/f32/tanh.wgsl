// The hyperbolic tangent, after Cephes' tanhf: an odd polynomial near zero, else 1 - 2 / (exp(2x) + 1).
fn tanh_f32(x: f32) -> f32 {
    let a = abs(x);
    var y = 1.0;
    if (a < 0.625) {
        let z = a * a;
        let p = (((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1) * z
            - 3.33332819422e-1;
        y = a * z * p + a;
    } else if (a <= 10.0 || is_nan_f32(x)) {
        y = 1.0 - 2.0 / (exp_f32(2.0 * a) + 1.0);
    }
    return copy_sign_f32(y, x);
}
