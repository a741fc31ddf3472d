// Zero minus x; the least number stays.
fn negate_i32(x: i32) -> i32 {
    return bitcast<i32>(0u - bitcast<u32>(x));
}
