// x^y modulo 2^32, by squaring. A negative y leaves 1 of 1, a sign of -1, and 0 of all else.
fn power_i32(x: i32, y: i32) -> i32 {
    if (y < 0 && x != 1 && x != -1) {
        return 0;
    }
    // The powers of 1 and -1 depend only on the lowest bit of y, which its bits as u32 keep.
    return bitcast<i32>(power_u32(bitcast<u32>(x), bitcast<u32>(y)));
}
