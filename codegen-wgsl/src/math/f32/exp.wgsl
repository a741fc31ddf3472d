// The exponential. Results below 2^-126 are flushed to 0.
fn exp_f32(x: f32) -> f32 {
    let y = select(exp_inner_f32(x), infinity_f32(), x > f32(88.72283));
    return select(select(y, f32(0.0), x < f32(-87.336545)), x, is_nan_f32(x));
}
