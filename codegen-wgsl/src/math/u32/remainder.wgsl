// The remainder of divide_u32; x by zero.
fn remainder_u32(x: u32, y: u32) -> u32 {
    let is_zero = y == u32(0u);
    return select(x % select(y, u32(1u), is_zero), x, is_zero);
}
