// The natural logarithm: NaN below zero, minus infinity at either zero.
fn log_f32(x: f32) -> f32 {
    let bits = bitcast<i32>(x);
    let y = log_polynomial_f32(keep(significand_f32(x) - 1.0), f32(significand_exponent_f32(x)));
    // The bits of infinity and NaN are greater than those of numbers, and those of what has a sign are negative.
    let other = select(nan_f32(), -infinity_f32(), (bits & i32(0x7fffffff)) == i32(0));
    return select(select(other, y, bits > i32(0)), x, bits > i32(0x7f7fffff));
}
