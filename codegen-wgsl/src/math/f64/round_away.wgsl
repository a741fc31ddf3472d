// The nearest whole number, ties away from zero. The difference is exact; adding one half before truncating is not.
fn round_away_f64(x: f64) -> f64 {
    let t = trunc(x);
    return copy_sign_f64(select(t, t + copy_sign_f64(1.0lf, x), abs(x - t) >= 0.5lf), x);
}
