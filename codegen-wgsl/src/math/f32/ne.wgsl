// Not equal, and true where either is NaN: drivers read `!=` as ordered.
fn ne_f32(x: f32, y: f32) -> bool {
    return !(x == y);
}
