// The error function.
fn erf_f64(x: f64) -> f64 {
    let a = abs(x);
    let far = erf_far_f64(select(2.0lf, a, (a >= 1.25) & (a < 6.0)));
    let near = erf_near_f64(select(0.0lf, a, a < 0.84375));
    let y = select(select(select(1.0lf, far, a < 6.0), erf_middle_f64(a), a < 1.25), near, a < 0.84375);
    return select(copy_sign_f64(y, x), x, is_nan_f64(x));
}
