// The natural logarithm: NaN below zero, minus infinity at either zero.
fn log_f32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let y = log_polynomial_f32(keep(significand_f32(x) - 1.0), f32(significand_exponent_f32(x)));
    // What is no positive finite number: a zero, what is negative or NaN, infinity.
    let other = select(nan_f32(), -infinity_f32(), (bits << u32(1u)) == u32(0u));
    return select(select(other, y, bits - u32(1u) < u32(0x7f7fffffu)), x, is_nan_f32(x) | (bits == u32(0x7f800000u)));
}
