// reduce_quadrant_f64 for finite x >= 2^20, after Payne and Hanek: the significand times those 192 bits of 2 / pi that decide the
// product modulo 4, in whole numbers.
fn reduce_quadrant_large_f64(x: f64, quadrant: ptr<function, u32>) -> vec2<f64> {
    let high = (high_f64(x) & 0x000fffffu) | 0x00100000u;
    let low = low_f64(x);
    // x = significand 2^e: bits of 2 / pi worth 2^(2 - e) or more make multiples of 4. Two words of zeros come first.
    let offset = (high_f64(x) >> 20u) - 1075u + 62u;
    let word = offset >> 5u;
    let shift = offset & 31u;
    var product: array<u32, 6>;
    var carry = 0lu;
    for (var i = 0u; i < 6u; i++) {
        let at = 5u - i;
        // A shift by 32 is written as two, for WGSL has none.
        let next = two_over_pi_f64(word + at + 1u) >> 1u;
        let digits = (two_over_pi_f64(word + at) << shift) | (next >> (31u - shift));
        let sum = u64(low) * u64(digits) + carry;
        product[at] = u32(sum & 0xfffffffflu);
        carry = sum >> 32u;
    }
    carry = 0lu;
    for (var i = 0u; i < 5u; i++) {
        let at = 4u - i;
        let next = two_over_pi_f64(word + at + 2u) >> 1u;
        let digits = (two_over_pi_f64(word + at + 1u) << shift) | (next >> (31u - shift));
        let sum = u64(high) * u64(digits) + u64(product[at]) + carry;
        product[at] = u32(sum & 0xfffffffflu);
        carry = sum >> 32u;
    }
    // The two top bits are the quadrant, the rest the fraction; from a half upwards the next quadrant is nearer, and the fraction is
    // counted down from it.
    let top = (u64(product[0]) << 32u) | u64(product[1]);
    let middle = (u64(product[2]) << 32u) | u64(product[3]);
    let bottom = (u64(product[4]) << 32u) | u64(product[5]);
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
