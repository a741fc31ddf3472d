// reduce_quadrant_f32 for finite x >= 200, after Payne and Hanek: the significand times those 96 bits of 2 / pi that
// decide the product modulo 4, in whole numbers.
fn reduce_quadrant_large_f32(x: f32, quadrant: ptr<function, u32>) -> f32 {
    let bits = bitcast<u32>(x);
    let significand = (bits & u32(0x007fffffu)) | u32(0x00800000u);
    let offset = (bits >> u32(23u)) - 120u;
    let word = offset >> u32(5u);
    let shift = offset & u32(31u);
    // Words `word` to `word + 3` of the digits of 2 / pi, with a word of zeros before the point; `word` is at most 4.
    let by_one = (word & u32(1u)) != u32(0u);
    let by_two = (word & u32(2u)) != u32(0u);
    let by_four = (word & u32(4u)) != u32(0u);
    let s0 = select(u32(0x00000000u), u32(0xa2f9836eu), by_one);
    let s1 = select(u32(0xa2f9836eu), u32(0x4e441529u), by_one);
    let s2 = select(u32(0x4e441529u), u32(0xfc2757d1u), by_one);
    let s3 = select(u32(0xfc2757d1u), u32(0xf534ddc0u), by_one);
    let s4 = select(u32(0xf534ddc0u), u32(0xdb629599u), by_one);
    let s5 = select(u32(0xdb629599u), u32(0x3c439041u), by_one);
    let w0 = select(select(s0, s2, by_two), u32(0xf534ddc0u), by_four);
    let w1 = select(select(s1, s3, by_two), u32(0xdb629599u), by_four);
    let w2 = select(select(s2, s4, by_two), u32(0x3c439041u), by_four);
    let w3 = select(select(s3, s5, by_two), u32(0xfe5163abu), by_four);
    // A shift by 32 is written as two, for WGSL has none.
    let a = (w0 << shift) | ((w1 >> u32(1u)) >> (31u - shift));
    let b = (w1 << shift) | ((w2 >> u32(1u)) >> (31u - shift));
    let c = (w2 << shift) | ((w3 >> u32(1u)) >> (31u - shift));
    let carried = multiply_high_u32(significand, c);
    let middle = significand * b + carried;
    let top = significand * a + multiply_high_u32(significand, b) + select(u32(0u), u32(1u), middle < carried);
    // The two top bits are the quadrant, the rest the fraction; from a half upwards the next quadrant is nearer, and the fraction is
    // counted down from it.
    let high = (top << u32(2u)) | (middle >> u32(30u));
    let low = middle << u32(2u);
    let up = high >> u32(31u);
    let is_up = up == u32(1u);
    let near_low = select(low, ~low + 1u, is_up);
    let near_high = select(high, ~high + select(u32(0u), u32(1u), low == u32(0u)), is_up);
    let r = (f32(near_high) * 2.3283064365386963e-10 + f32(near_low) * 5.421010862427522e-20) * 1.5707963267948966;
    *quadrant = ((top >> u32(30u)) + up) & u32(3u);
    return select(r, -r, is_up);
}
