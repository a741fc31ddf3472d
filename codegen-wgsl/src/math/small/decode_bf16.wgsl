// A bf16 is the upper half of an f32.
fn decode_bf16(x: u32) -> f32 {
    return bitcast<f32>(x << u32(16u));
}
