// x with the lower 12 of its 24 significant bits cleared, so that products of two such numbers are exact.
fn truncate_significand_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & u32(0xfffff000u));
}
