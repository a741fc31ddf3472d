// The nearest whole number, ties to even: of literals too, with which naga does not compute.
fn round_f64(x: f64) -> f64 {
    return round(x);
}
