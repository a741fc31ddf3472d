// The magnitude: of literals too, with which naga does not compute.
fn abs_f64(x: f64) -> f64 {
    return abs(x);
}
