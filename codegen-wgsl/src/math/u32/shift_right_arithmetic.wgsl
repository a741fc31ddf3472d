// The bits of x moved right, with copies of the top bit after them; only those copies from 32 places on.
fn shift_right_arithmetic_u32(x: u32, n: u32) -> u32 {
    return bitcast<u32>(bitcast<i32>(x) >> min(n, u32(31u)));
}
