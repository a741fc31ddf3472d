// Truncates and saturates; NaN and what is below zero become 0.
fn f32_to_u32(x: f32) -> u32 {
    if (is_nan_f32(x) || x < 1.0) {
        return 0u;
    }
    if (x >= 4294967296.0) {
        return 0xffffffffu;
    }
    return u32(x);
}
