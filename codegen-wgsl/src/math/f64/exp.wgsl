// The exponential.
fn exp_f64(x: f64) -> f64 {
    return exp_scaled_f64(x, 0);
}
