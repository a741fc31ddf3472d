// Truncates and saturates; NaN and what is below zero become 0.
fn f32_to_u32(x: f32) -> u32 {
    let is_inner = (x >= f32(1.0)) & (x < f32(4294967296.0));
    let outer = select(u32(0u), u32(0xffffffffu), x >= f32(4294967296.0));
    return select(outer, u32(select(f32(0.0), x, is_inner)), is_inner);
}
