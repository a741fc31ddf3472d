// reduce_quadrant_f64 for finite x >= 2^20, after Payne and Hanek: the significand times those 192 bits of 2 / pi that decide the
// product modulo 4, in whole numbers.
fn reduce_quadrant_large_f64(x: f64, quadrant: ptr<function, u32>) -> vec2<f64> {
    let high = (high_f64(x) & 0x000fffffu) | 0x00100000u;
    let low = low_f64(x);
    // x = significand 2^e: bits of 2 / pi worth 2^(2 - e) or more make multiples of 4. Two words of zeros come first.
    let offset = (high_f64(x) >> 20u) - 1075u + 62u;
    let word = offset >> 5u;
    let shift = offset & 31u;
    let digits = two_over_pi_f64(word, shift);
    // By words from the last: with the low word of the significand, and a word further up with its high word.
    let low_5 = u64(low) * u64(digits[5]);
    let low_4 = u64(low) * u64(digits[4]) + (low_5 >> 32u);
    let low_3 = u64(low) * u64(digits[3]) + (low_4 >> 32u);
    let low_2 = u64(low) * u64(digits[2]) + (low_3 >> 32u);
    let low_1 = u64(low) * u64(digits[1]) + (low_2 >> 32u);
    let low_0 = u64(low) * u64(digits[0]) + (low_1 >> 32u);
    let high_4 = u64(high) * u64(digits[5]) + (low_4 & 0xfffffffflu);
    let high_3 = u64(high) * u64(digits[4]) + (low_3 & 0xfffffffflu) + (high_4 >> 32u);
    let high_2 = u64(high) * u64(digits[3]) + (low_2 & 0xfffffffflu) + (high_3 >> 32u);
    let high_1 = u64(high) * u64(digits[2]) + (low_1 & 0xfffffffflu) + (high_2 >> 32u);
    let high_0 = u64(high) * u64(digits[1]) + (low_0 & 0xfffffffflu) + (high_1 >> 32u);
    // The two top bits are the quadrant, the rest the fraction; from a half upwards the next quadrant is nearer, and the fraction is
    // counted down from it.
    let top = (high_0 << 32u) | (high_1 & 0xfffffffflu);
    let middle = (high_2 << 32u) | (high_3 & 0xfffffffflu);
    let bottom = (high_4 << 32u) | (low_5 & 0xfffffffflu);
    let fraction = (top << 2u) | (middle >> 62u);
    let below = (middle << 2u) | (bottom >> 62u);
    let is_up = (fraction >> 63u) == 1lu;
    let near = select(fraction, ~fraction + select(0lu, 1lu, below == 0lu), is_up);
    let rest = select(below, ~below + 1lu, is_up);
    // The 106 highest places of what is left, of which the first 62 may be zeros.
    let leading = u32(near >> 32u);
    let zeros = select(countLeadingZeros(leading), 32u + countLeadingZeros(u32(near & 0xfffffffflu)), leading == 0u);
    let moved = min(zeros, 63u);
    let upper = (near << moved) | ((rest >> 1u) >> (63u - moved));
    let lower = rest << moved;
    let first = f64(upper >> 11u) * 1.1102230246251565e-16;
    let second = f64(((upper & 0x7fflu) << 42u) | (lower >> 22u)) * 1.232595164407831e-32;
    let angle = product_of_sums_f64(vec2<f64>(first, second), vec2<f64>(1.5707963267948966, 6.123233995736766e-17));
    let scale = join_f64(0u, (1023u - moved) << 20u) * select(1.0lf, -1.0lf, is_up);
    *quadrant = (u32(top >> 62u) + select(0u, 1u, is_up)) & 3u;
    return angle * scale;
}
