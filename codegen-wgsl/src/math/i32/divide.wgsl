// Truncating division; -1 by zero, and the least number by -1 wraps to itself.
fn divide_i32(x: i32, y: i32) -> i32 {
    if (y == 0) {
        return -1;
    }
    if (y == -1) {
        return bitcast<i32>(0u - bitcast<u32>(x));
    }
    return x / y;
}
