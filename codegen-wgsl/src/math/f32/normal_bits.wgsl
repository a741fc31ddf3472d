// The bits of x > 0, or of x * 2^149 where x is subnormal: its bits are that whole number. Signed words, which CPUs compare and convert at once.
fn normal_bits_f32(x: f32) -> i32 {
    let bits = bitcast<i32>(x);
    return select(bits, bitcast<i32>(f32(bits)), bits < i32(0x00800000));
}
