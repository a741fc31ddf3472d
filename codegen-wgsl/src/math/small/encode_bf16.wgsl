// The upper half of an f32, rounded to nearest, ties to even; a NaN stays one.
fn encode_bf16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let upper = bits >> u32(16u);
    let rounded = (bits + u32(0x7fffu) + (upper & u32(1u))) >> u32(16u);
    return select(rounded, upper | u32(0x40u), (bits & u32(0x7fffffffu)) > u32(0x7f800000u));
}
