// The remainder of divide_i32, with the sign of x; x by zero.
fn remainder_i32(x: i32, y: i32) -> i32 {
    if (y == 0) {
        return x;
    }
    if (y == -1) {
        return 0;
    }
    return x % y;
}
