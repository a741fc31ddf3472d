// The area hyperbolic tangent; infinite at 1 and NaN beyond.
fn atanh_f64(x: f64) -> f64 {
    let a = abs(x);
    let y = 0.5 * log1p_f64(keep_f64(2.0 * keep_f64(a / (1.0 - a))));
    let small = 0.5 * log1p_f64(keep_f64(2.0 * a + keep_f64(2.0 * a * a) / (1.0 - a)));
    let finite = select(y, small, a < 0.5);
    let any = select(select(finite, infinity_f64(), a == 1.0), nan_f64(), a > 1.0);
    return select(copy_sign_f64(any, x), x, is_nan_f64(x) | (a < 1e-9));
}
