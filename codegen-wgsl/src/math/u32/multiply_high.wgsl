// The upper 32 bits of the 64-bit product, by halves.
fn multiply_high_u32(x: u32, y: u32) -> u32 {
    let low = (x & 0xffffu) * (y & 0xffffu);
    let middle = (x >> 16u) * (y & 0xffffu) + (low >> 16u);
    let other = (x & 0xffffu) * (y >> 16u) + (middle & 0xffffu);
    return (x >> 16u) * (y >> 16u) + (middle >> 16u) + (other >> 16u);
}
