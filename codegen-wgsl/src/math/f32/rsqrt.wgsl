// 1 / sqrt(x): more accurate than inverseSqrt, and an infinity with the sign of x at zero.
fn rsqrt_f32(x: f32) -> f32 {
    let y = select(1.0 / sqrt(x), nan_f32(), x < f32(0.0));
    return select(y, copy_sign_f32(infinity_f32(), x), x == f32(0.0));
}
