// The e of x = m 2^e, as a whole number, with m as in significand_f32.
fn significand_exponent_f32(x: f32) -> i32 {
    let e = (normal_bits_f32(x) - i32(0x3f3504f3)) >> u32(23u);
    return select(e, e - 149, bitcast<i32>(x) < i32(0x00800000));
}
