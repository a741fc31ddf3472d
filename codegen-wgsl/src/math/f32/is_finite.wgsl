// Neither an infinity nor NaN: the exponent is not all ones.
fn is_finite_f32(x: f32) -> bool {
    return (bitcast<u32>(x) & u32(0x7f800000u)) != u32(0x7f800000u);
}
