// The bits of x moved right, with zeros after them; 0 from 32 places on, as which negative amounts count.
fn shift_right_logical_i32(x: i32, n: i32) -> i32 {
    return bitcast<i32>(select(bitcast<u32>(x) >> (bitcast<u32>(n) & 31u), 0u, bitcast<u32>(n) >= 32u));
}
