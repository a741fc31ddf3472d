// The quotient, a digit of 16 bits, of x * 2^16 + next by y, where x < y, next < 2^16 and the uppermost bit of y is set. Estimated by the upper half
// of y, it is too large by at most 2.
fn digit_wide(x: u32, next: u32, y: u32) -> u32 {
    let upper = y >> 16u;
    let lower = y & 0xffffu;
    let estimate = x / upper;
    let rest = x - estimate * upper;
    let is_over = (estimate > 0xffffu) | (estimate * lower > ((rest << 16u) | next));
    let nearer = estimate - select(0u, 1u, is_over);
    let left = rest + select(0u, upper, is_over);
    let is_still = is_over & (left < 0x10000u) & ((nearer > 0xffffu) | (nearer * lower > ((left << 16u) | next)));
    return nearer - select(0u, 1u, is_still);
}
