// Division; all ones by zero.
fn divide_u32(x: u32, y: u32) -> u32 {
    let is_zero = y == u32(0u);
    return select(x / select(y, u32(1u), is_zero), u32(0xffffffffu), is_zero);
}
