// Infinity; hidden as infinity_f32() is.
fn infinity_f64() -> f64 {
    return bitcast<f64>(u64(0x7ff00000u ^ zeros.zero_constant) << 32u);
}
