// The least whole number that is not less: of literals too, with which naga does not compute.
fn ceil_f64(x: f64) -> f64 {
    return ceil(x);
}
