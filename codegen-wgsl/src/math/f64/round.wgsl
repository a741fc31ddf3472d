// The nearest whole number, ties to even; the difference is exact. llvmpipe computes round and trunc of f64 wrongly where the processor has no instruction for vectors as wide as its own.
fn round_f64(x: f64) -> f64 {
    let a = abs(x);
    let t = floor(a);
    let half = t * 0.5lf;
    let is_up = (a - t > 0.5lf) | ((a - t == 0.5lf) & (floor(half) < half));
    return copy_sign_f64(select(t, t + 1.0lf, is_up), x);
}
