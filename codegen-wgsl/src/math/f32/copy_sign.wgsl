// The magnitude of x with the sign of s.
fn copy_sign_f32(x: f32, s: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & u32(0x7fffffffu)) | (bitcast<u32>(s) & u32(0x80000000u)));
}
