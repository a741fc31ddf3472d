// The number that has these words.
fn join_f64(low: u32, high: u32) -> f64 {
    return bitcast<f64>((u64(high) << 32u) | u64(low));
}
