// The m in [sqrt(1/2), sqrt(2)) of x = m 2^e, for a positive finite x; significand_exponent_f32 gives e.
fn significand_f32(x: f32) -> f32 {
    let bits = normal_bits_f32(x);
    return bitcast<f32>(bits - ((bits - i32(0x3f3504f3)) & i32(-0x00800000)));
}
