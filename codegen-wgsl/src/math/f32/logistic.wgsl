// 1 / (1 + exp(-x)), by the exponential that is at most 1, so that what it is off by is not more of the result.
fn logistic_f32(x: f32) -> f32 {
    let power = exp_f32(-abs(x));
    let is_negative = bitcast<u32>(x) >= u32(0x80000000u);
    return select(f32(1.0), power, is_negative) / (1.0 + power);
}
