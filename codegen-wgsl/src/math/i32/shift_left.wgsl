// x * 2^n modulo 2^32; 0 from 32 places on, as which negative amounts count.
fn shift_left_i32(x: i32, n: i32) -> i32 {
    return select(x << (bitcast<u32>(n) & u32(31u)), i32(0), bitcast<u32>(n) >= u32(32u));
}
