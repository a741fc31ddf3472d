// A power of two by its exponent alone; all ones are a NaN.
fn decode_f8e8m0fnu(x: u32) -> f32 {
    let power = select(x << u32(23u), u32(0x400000u), x == u32(0u));
    return bitcast<f32>(select(power, u32(0x7fc00000u), x == u32(0xffu)));
}
