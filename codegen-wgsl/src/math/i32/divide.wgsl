// Truncating division; -1 by zero, and the least number by -1 wraps to itself.
fn divide_i32(x: i32, y: i32) -> i32 {
    let is_plain = (y != i32(0)) & (y != i32(-1));
    let other = select(bitcast<i32>(0u - bitcast<u32>(x)), i32(-1), y == i32(0));
    return select(other, x / select(i32(1), y, is_plain), is_plain);
}
