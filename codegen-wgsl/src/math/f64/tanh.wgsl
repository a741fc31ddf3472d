// The hyperbolic tangent, of expm1 on the side where it is small.
fn tanh_f64(x: f64) -> f64 {
    let a = abs(x);
    let is_small = a < 0.5;
    let within = select(a, 22.0lf, a > 22.0);
    let t = expm1_f64(select(2.0 * within, -2.0 * within, is_small));
    let y = select(1.0 - 2.0 / (t + 2.0), -t / (t + 2.0), is_small);
    return select(copy_sign_f64(select(y, a, a < 1e-9), x), x, is_nan_f64(x));
}
