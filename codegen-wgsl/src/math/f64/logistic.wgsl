// 1 / (1 + exp(-x)), by the exponential that does not overflow.
fn logistic_f64(x: f64) -> f64 {
    let power = exp_f64(-abs(x));
    return select(1.0lf, power, x < 0.0) / (1.0 + power);
}
