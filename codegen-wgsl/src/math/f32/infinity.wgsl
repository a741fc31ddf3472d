// Positive infinity, hidden from constant evaluation like nan_f32.
fn infinity_f32() -> f32 {
    return bitcast<f32>(u32(0x7f800000u ^ zeros.zero_constant));
}
