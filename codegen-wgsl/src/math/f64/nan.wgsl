// A quiet NaN; hidden as nan_f32() is.
fn nan_f64() -> f64 {
    return bitcast<f64>(u64(0x7ff80000u ^ zeros.zero_constant) << 32u);
}
