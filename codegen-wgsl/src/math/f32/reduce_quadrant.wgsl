// The r, and the q in 0..4, with x = r + q pi/2 modulo 2 pi and |r| <= pi/4, for finite x >= 0. Up to 200 after Cody and
// Waite: pi/2 in three parts, the first two so short that their products are exact; keep() stops drivers from adding
// the parts.
fn reduce_quadrant_f32(x: f32, quadrant: ptr<function, u32>) -> f32 {
    let n = floor(x * 0.6366197723675814 + 0.5);
    let r = keep(keep(x - n * 1.5707855224609375) - n * 1.0804273188114166e-5) - n * 6.077100506506192e-11;
    let q = whole_f32(n) & u32(3u);
    *quadrant = q;
    let is_large = x >= f32(200.0);
    if (is_large) {
        var large_quadrant: u32;
        let large = reduce_quadrant_large_f32(x, &large_quadrant);
        *quadrant = select(q, large_quadrant, is_large);
        return select(r, large, is_large);
    }
    return r;
}
