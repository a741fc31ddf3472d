// A bit test: drivers fold `x != x` to false.
fn is_nan_f32(x: f32) -> bool {
    return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
