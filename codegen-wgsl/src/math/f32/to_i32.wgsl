// Truncates and saturates; NaN becomes 0.
fn f32_to_i32(x: f32) -> i32 {
    if (is_nan_f32(x)) {
        return 0;
    }
    if (x >= 2147483648.0) {
        return 0x7fffffff;
    }
    if (x <= -2147483648.0) {
        return -0x7fffffff - 1;
    }
    return i32(x);
}
