// x 2^n for n within [-2000, 2000], rounded once: in two steps, of which the first is exact wherever the second is not.
fn scale_f64(x: f64, n: i32) -> f64 {
    let half = n >> 1u;
    let first = join_f64(0u, u32(half + 1023) << 20u);
    let second = join_f64(0u, u32(n - half + 1023) << 20u);
    return keep_f64(x * first) * second;
}
