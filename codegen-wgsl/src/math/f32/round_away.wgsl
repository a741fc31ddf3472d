// The nearest whole number, ties away from zero. The difference is exact; adding one half before truncating is not.
fn round_away_f32(x: f32) -> f32 {
    let t = trunc(x);
    return select(t, t + copy_sign_f32(f32(1.0), x), abs(x - t) >= f32(0.5));
}
