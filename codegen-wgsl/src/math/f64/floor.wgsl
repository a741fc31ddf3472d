// The greatest whole number that is not greater: of literals too, with which naga does not compute.
fn floor_f64(x: f64) -> f64 {
    return floor(x);
}
