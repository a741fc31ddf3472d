// Zero minus x modulo 2^32; WGSL's minus sign takes no u32.
fn negate_u32(x: u32) -> u32 {
    return 0u - x;
}
