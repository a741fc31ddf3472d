// The rounded sum of two numbers, and what it lacks (Knuth).
fn two_sum_f64(x: f64, y: f64) -> vec2<f64> {
    let sum = keep_f64(x + y);
    let second = keep_f64(sum - x);
    let first = keep_f64(sum - second);
    return vec2<f64>(sum, keep_f64(x - first) + keep_f64(y - second));
}
