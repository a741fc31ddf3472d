// -1, 1, or x itself where x is a zero or NaN; by bits, for drivers may take subnormal numbers for zero.
fn sign_f32(x: f32) -> f32 {
    return select(copy_sign_f32(f32(1.0), x), x, is_nan_f32(x) | ((bitcast<u32>(x) << u32(1u)) == u32(0u)));
}
