// x != y, which holds for NaN too.
fn ne_f64(x: f64, y: f64) -> bool {
    return (x < y) | (x > y) | is_nan_f64(x) | is_nan_f64(y);
}
