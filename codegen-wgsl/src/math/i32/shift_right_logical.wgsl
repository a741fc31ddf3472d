// The bits of x moved right, with zeros after them; 0 from 32 places on, as which negative amounts count.
fn shift_right_logical_i32(x: i32, n: i32) -> i32 {
    let moved = bitcast<u32>(x) >> (bitcast<u32>(n) & u32(31u));
    return bitcast<i32>(select(moved, u32(0u), bitcast<u32>(n) >= u32(32u)));
}
