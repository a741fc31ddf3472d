// A quiet NaN. The run-time zero keeps compilers from seeing the constant, which WGSL forbids them to accept.
fn nan_f32() -> f32 {
    return bitcast<f32>(u32(0x7fc00000u ^ zeros.zero_constant));
}
