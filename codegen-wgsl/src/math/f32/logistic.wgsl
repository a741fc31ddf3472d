// 1 / (1 + exp(-x)).
fn logistic_f32(x: f32) -> f32 {
    return 1.0 / (1.0 + exp_f32(-x));
}
