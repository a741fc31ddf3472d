// The nearest whole number, ties away from zero. The difference is exact; adding one half before rounding down is not.
fn round_away_f64(x: f64) -> f64 {
    let a = abs(x);
    let t = floor(a);
    return copy_sign_f64(select(t, t + 1.0lf, a - t >= 0.5lf), x);
}
