// Whether x is neither infinite nor a NaN.
fn is_finite_f64(x: f64) -> bool {
    return (high_f64(x) & 0x7fffffffu) < 0x7ff00000u;
}
