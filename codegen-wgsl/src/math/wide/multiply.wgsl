// The lower 64 bits of the product of two integers of 64 bits, low words first.
fn multiply_wide(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(x.x * y.x, multiply_high_u32(x.x, y.x) + x.x * y.y + x.y * y.x);
}
