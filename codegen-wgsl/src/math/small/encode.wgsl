// The bits of the float of at most 16 bits that is nearest to a number, ties to even. `sign` is the bit of the sign and `zero_sign` that of
// negative zero, 0 where there is none; without the sign, `greatest` are the bits of the greatest number, `over` those for what is
// larger, and `nan` those of a NaN. Below the least normal number of the format more places are dropped.
fn encode_small_float(
    x: f32, mantissa_bits: u32, bias: u32, sign: u32, zero_sign: u32, greatest: u32, over: u32, nan: u32
) -> u32 {
    let bits = bitcast<u32>(x);
    let magnitude = bits & u32(0x7fffffffu);
    let exponent = magnitude >> u32(23u);
    let least = u32(128u) - bias;
    let is_small = exponent < least;
    let missing = select(u32(0u), least - exponent, is_small);
    let shift = min(u32(23u) - mantissa_bits + missing, u32(26u));
    let significand = (magnitude & u32(0x7fffffu)) | select(u32(0x800000u), u32(0u), exponent == u32(0u));
    let odd = (significand >> shift) & u32(1u);
    let kept = (significand + ((u32(1u) << (shift - u32(1u))) - u32(1u)) + odd) >> shift;
    let rounded = kept + select((exponent - least) << mantissa_bits, u32(0u), is_small);
    let number = select(rounded, over, rounded > greatest);
    let code = select(number, nan, magnitude > u32(0x7f800000u));
    let own_sign = select(sign, zero_sign, code == u32(0u));
    return code | select(u32(0u), own_sign, (bits >> u32(31u)) != u32(0u));
}
