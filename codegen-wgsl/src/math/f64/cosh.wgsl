// The hyperbolic cosine.
fn cosh_f64(x: f64) -> f64 {
    let half = exp_scaled_f64(abs(x), -1);
    return half + 0.25 / half;
}
