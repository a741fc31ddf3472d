// The low word of the bits.
fn low_f64(x: f64) -> u32 {
    return u32(bitcast<u64>(x) & 0xfffffffflu);
}
