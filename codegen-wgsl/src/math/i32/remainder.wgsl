// The remainder of divide_i32, with the sign of x; x by zero.
fn remainder_i32(x: i32, y: i32) -> i32 {
    let is_plain = (y != i32(0)) & (y != i32(-1));
    return select(select(i32(0), x, y == i32(0)), x % select(i32(1), y, is_plain), is_plain);
}
