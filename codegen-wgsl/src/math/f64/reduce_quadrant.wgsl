// The r, as the sum of a number and a smaller one, and the q in 0..4, with x = r + q pi/2 modulo 2 pi and |r| <= pi/4, for finite x >= 0. Up to
// 2^20 after Cody and Waite: pi/2 in four parts, of which the first three are so short that their products are exact.
fn reduce_quadrant_f64(x: f64, quadrant: ptr<function, u32>) -> vec2<f64> {
    if (x >= 1048576.0) {
        return reduce_quadrant_large_f64(x, quadrant);
    }
    let n = floor(x * 6.36619772367581382433e-1 + 0.5);
    *quadrant = u32(n) & 3u;
    let first = keep_f64(x - n * 1.57079632673412561417);
    let second = two_sum_f64(first, -n * 6.07710050630396597660e-11);
    let third = two_sum_f64(second.x, -n * 2.02226624871116645580e-21);
    let low = keep_f64(keep_f64(second.y + third.y) - n * 8.47842766036889956997e-32);
    let sum = keep_f64(third.x + low);
    return vec2<f64>(sum, low - keep_f64(sum - third.x));
}
