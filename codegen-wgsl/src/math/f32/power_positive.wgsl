// x^y for finite x > 0 and finite y: 2^(y log2(x)) with the logarithm and y in two parts each, so that the leading
// product is exact.
fn power_positive_f32(x: f32, y: f32) -> f32 {
    let logarithm = log2_parts_f32(x);
    let estimate = y * (logarithm.x + logarithm.y);
    // Beyond these nothing but 0 or infinity comes out, and the parts of the product need not be finite.
    if (abs(estimate) > 160.0) {
        return select(0.0, infinity_f32(), estimate > 0.0);
    }
    let y_high = truncate_significand_f32(y);
    let high = y_high * logarithm.x;
    let low = keep(y - y_high) * logarithm.x + y * logarithm.y;
    let n = floor(high + low + 0.5);
    let r = keep(high - n) + low;
    return scale_f32(exponential_polynomial_f32(keep(r * 0.6931471805599453)) + 1.0, i32(n));
}
