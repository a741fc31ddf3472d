// The quotient of an unsigned integer of 64 bits, low word first, by one of 32 that is not 0: long division by digits of 16 bits
// (Knuth, The Art of Computer Programming, volume 2, algorithm D), without a loop.
fn divide_wide(x: vec2<u32>, y: u32) -> vec2<u32> {
    let places = countLeadingZeros(y);
    let divisor = y << places;
    let low = x.x << places;
    let high = ((x.y % y) << places) | ((x.x >> 1u) >> (31u - places));
    let first = digit_wide(high, low >> 16u, divisor);
    let rest = ((high << 16u) | (low >> 16u)) - first * divisor;
    return vec2<u32>((first << 16u) | digit_wide(rest, low & 0xffffu, divisor), x.y / y);
}
