// The magnitude; the least number stays.
fn abs_i32(x: i32) -> i32 {
    return select(x, bitcast<i32>(0u - bitcast<u32>(x)), x < i32(0));
}
