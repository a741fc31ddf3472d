// The square root; NaN below zero, which WGSL leaves open.
fn sqrt_f64(x: f64) -> f64 {
    return select(sqrt(x), nan_f64(), x < 0.0lf);
}
