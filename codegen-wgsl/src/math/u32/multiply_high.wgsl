// The upper 32 bits of the 64-bit product, by halves.
fn multiply_high_u32(x: u32, y: u32) -> u32 {
    let low = (x & u32(0xffffu)) * (y & u32(0xffffu));
    let middle = (x >> u32(16u)) * (y & u32(0xffffu)) + (low >> u32(16u));
    let other = (x & u32(0xffffu)) * (y >> u32(16u)) + (middle & u32(0xffffu));
    return (x >> u32(16u)) * (y >> u32(16u)) + (middle >> u32(16u)) + (other >> u32(16u));
}
