// The number that the bits of a float of at most 16 bits are. `sign` is the bit of the sign, 0 in a format without; `infinity` and `nan` are
// the bits without the sign of infinity and of the least NaN, and `only_nan` those of the one NaN of a format that has no other: all ones where
// there is none. What is below the least normal number of the format is a product that f32 holds exactly.
fn decode_small_float(x: u32, mantissa_bits: u32, bias: u32, sign: u32, infinity: u32, nan: u32, only_nan: u32) -> f32 {
    let code = x & ~sign;
    let shift = u32(23u) - mantissa_bits;
    let normal = (code << shift) + ((u32(127u) - bias) << u32(23u));
    let least = bitcast<f32>((u32(128u) - bias - mantissa_bits) << u32(23u));
    let subnormal = bitcast<u32>(f32(code) * least);
    let finite = select(normal, subnormal, (code >> mantissa_bits) == u32(0u));
    let is_nan = (code >= nan) | (x == only_nan);
    let special = select(u32(0x7f800000u), u32(0x7fc00000u) | (code << shift), is_nan);
    let magnitude = select(finite, special, is_nan | (code == infinity));
    return bitcast<f32>(magnitude | select(u32(0u), u32(0x80000000u), (x & sign) != u32(0u)));
}
