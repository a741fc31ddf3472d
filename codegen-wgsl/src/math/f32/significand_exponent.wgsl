// The e of x = m 2^e, as a whole number, with m as in significand_f32.
fn significand_exponent_f32(x: f32) -> i32 {
    let e = bitcast<i32>(normal_bits_f32(x) - u32(0x3f3504f3u)) >> u32(23u);
    return select(e, e - 149, (bitcast<u32>(x) & u32(0x7f800000u)) == u32(0u));
}
