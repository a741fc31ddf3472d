// The hyperbolic cosine, (exp(x) + exp(-x)) / 2.
fn cosh_f32(x: f32) -> f32 {
    let e = half_exp_f32(abs(x));
    return e + 0.25 / e;
}
