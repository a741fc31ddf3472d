// (r, q) with x = r + q pi/2 modulo 2 pi, |r| <= pi/4 and q in 0..4, for finite x >= 0. Up to 200 after Cody and
// Waite: pi/2 in three parts, the first two so short that their products are exact; keep() stops drivers from adding
// the parts.
fn reduce_quadrant_f32(x: f32) -> vec2<f32> {
    if (x >= 200.0) {
        return reduce_quadrant_large_f32(x);
    }
    let n = floor(x * 0.6366197723675814 + 0.5);
    let r = keep(keep(x - n * 1.5707855224609375) - n * 1.0804273188114166e-5) - n * 6.077100506506192e-11;
    return vec2<f32>(r, f32(u32(n) & 3u));
}
