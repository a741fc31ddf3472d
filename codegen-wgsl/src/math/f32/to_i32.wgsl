// Truncates and saturates; NaN becomes 0.
fn f32_to_i32(x: f32) -> i32 {
    let is_inner = (x > f32(-2147483648.0)) & (x < f32(2147483648.0));
    let outer = select(select(i32(0x7fffffff), i32(-0x7fffffff - 1), x < f32(0.0)), i32(0), is_nan_f32(x));
    return select(outer, i32(select(f32(0.0), x, is_inner)), is_inner);
}
