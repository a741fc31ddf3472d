// The greater of two; NaN if either is, and +0 of the two zeros, which the order of the keys puts above -0. Without a branch.
fn max_f32(x: f32, y: f32) -> f32 {
    return select(select(x, y, is_nan_f32(y) | (total_order_f32(y) > total_order_f32(x))), x, is_nan_f32(x));
}
