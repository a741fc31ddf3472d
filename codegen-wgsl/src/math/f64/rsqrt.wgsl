// 1 / sqrt(x), and an infinity with the sign of x at zero.
fn rsqrt_f64(x: f64) -> f64 {
    let y = select(1.0lf / sqrt(x), nan_f64(), x < 0.0lf);
    return select(y, copy_sign_f64(infinity_f64(), x), x == 0.0lf);
}
