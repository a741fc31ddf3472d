// x / 2^n rounded down; the sign from 32 places on, as which negative amounts count.
fn shift_right_arithmetic_i32(x: i32, n: i32) -> i32 {
    return x >> min(bitcast<u32>(n), u32(31u));
}
