// The exponent of the nearest power of two, the upper one of two that are as near. Zero, negative numbers and what is too large have none:
// they are a NaN.
fn encode_f8e8m0fnu(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let normal = (bits + u32(0x400000u)) >> u32(23u);
    let subnormal = select(u32(0u), u32(1u), bits >= u32(0x600000u));
    let exponent = select(normal, subnormal, bits < u32(0x800000u));
    return select(min(exponent, u32(0xffu)), u32(0xffu), (bits == u32(0u)) | (bits >= u32(0x7f800000u)));
}
