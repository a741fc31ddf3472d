// The magnitude of the first with the sign of the second.
fn copy_sign_f64(magnitude: f64, sign: f64) -> f64 {
    return bitcast<f64>((bitcast<u64>(magnitude) & 0x7ffffffffffffffflu) | (bitcast<u64>(sign) & 0x8000000000000000lu));
}
