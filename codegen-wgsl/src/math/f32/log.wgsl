// The natural logarithm: NaN below zero, minus infinity at either zero.
fn log_f32(x: f32) -> f32 {
    if (is_nan_f32(x) || bitcast<u32>(x) == 0x7f800000u) {
        return x;
    }
    if ((bitcast<u32>(x) & 0x7fffffffu) == 0u) {
        return -infinity_f32();
    }
    if (bitcast<u32>(x) > 0x80000000u) {
        return nan_f32();
    }
    return log_polynomial_f32(keep(significand_f32(x) - 1.0), f32(significand_exponent_f32(x)));
}
