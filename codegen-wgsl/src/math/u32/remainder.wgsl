// The remainder of divide_u32; x by zero.
fn remainder_u32(x: u32, y: u32) -> u32 {
    if (y == 0u) {
        return x;
    }
    return x % y;
}
