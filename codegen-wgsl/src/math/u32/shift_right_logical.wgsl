// x / 2^n rounded down; 0 from 32 places on.
fn shift_right_logical_u32(x: u32, n: u32) -> u32 {
    return select(x >> (n & u32(31u)), u32(0u), n >= u32(32u));
}
