// The square root; NaN below zero, which WGSL leaves open.
fn sqrt_f32(x: f32) -> f32 {
    return select(sqrt(x), nan_f32(), x < f32(0.0));
}
