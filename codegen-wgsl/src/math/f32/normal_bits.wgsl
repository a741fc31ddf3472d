// The bits of x > 0, or of x * 2^149 where x is subnormal: its bits are that whole number.
fn normal_bits_f32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    return select(bits, bitcast<u32>(f32(bits)), bits < u32(0x00800000u));
}
