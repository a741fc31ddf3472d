// The high word of the bits: sign, exponent and the first 20 places.
fn high_f64(x: f64) -> u32 {
    return u32(bitcast<u64>(x) >> 32u);
}
