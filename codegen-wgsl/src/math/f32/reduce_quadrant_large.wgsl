// reduce_quadrant_f32 for finite x >= 200, after Payne and Hanek: the significand times those 96 bits of 2 / pi that
// decide the product modulo 4, in whole numbers.
fn reduce_quadrant_large_f32(x: f32) -> vec2<f32> {
    let bits = bitcast<u32>(x);
    let significand = (bits & 0x007fffffu) | 0x00800000u;
    let offset = (bits >> 23u) - 120u;
    let word = offset >> 5u;
    let shift = offset & 31u;
    let w0 = two_over_pi_u32(word);
    let w1 = two_over_pi_u32(word + 1u);
    let w2 = two_over_pi_u32(word + 2u);
    let w3 = two_over_pi_u32(word + 3u);
    // A shift by 32 is written as two, for WGSL has none.
    let a = (w0 << shift) | ((w1 >> 1u) >> (31u - shift));
    let b = (w1 << shift) | ((w2 >> 1u) >> (31u - shift));
    let c = (w2 << shift) | ((w3 >> 1u) >> (31u - shift));
    let carried = multiply_high_u32(significand, c);
    let middle = significand * b + carried;
    let top = significand * a + multiply_high_u32(significand, b) + select(0u, 1u, middle < carried);
    // The two top bits are the quadrant, the rest the fraction; from a half upwards the next quadrant is nearer.
    var high = (top << 2u) | (middle >> 30u);
    var low = middle << 2u;
    let up = high >> 31u;
    if (up == 1u) {
        low = ~low + 1u;
        high = ~high + select(0u, 1u, low == 0u);
    }
    let r = (f32(high) * 2.3283064365386963e-10 + f32(low) * 5.421010862427522e-20) * 1.5707963267948966;
    return vec2<f32>(select(r, -r, up == 1u), f32(((top >> 30u) + up) & 3u));
}
