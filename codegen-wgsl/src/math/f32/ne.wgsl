// Not equal, and true where either is NaN: drivers read `!=` as ordered, and `!(x == y)` as `!=`.
fn ne_f32(x: f32, y: f32) -> bool {
    return is_nan_f32(x) | is_nan_f32(y) | (x != y);
}
