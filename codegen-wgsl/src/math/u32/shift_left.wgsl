// x * 2^n modulo 2^32; 0 from 32 places on.
fn shift_left_u32(x: u32, n: u32) -> u32 {
    return select(x << (n & u32(31u)), u32(0u), n >= u32(32u));
}
