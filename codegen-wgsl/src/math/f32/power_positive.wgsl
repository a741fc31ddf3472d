// x^y for finite x > 0 and finite y: 2^(y log2(x)) with the logarithm and y in two parts each, so that the leading
// product is exact.
fn power_positive_f32(x: f32, y: f32) -> f32 {
    var logarithm_low: f32;
    let logarithm = log2_parts_f32(x, &logarithm_low);
    let estimate = y * (logarithm + logarithm_low);
    let y_high = truncate_significand_f32(y);
    let high = y_high * logarithm;
    let low = keep(y - y_high) * logarithm + y * logarithm_low;
    let n = floor(high + low + 0.5);
    let r = keep(high - n) + low;
    let power =
        scale_f32(exponential_polynomial_f32(keep(r * 0.6931471805599453)) + 1.0, bitcast<i32>(whole_f32(n)));
    // Beyond these nothing but 0 or infinity comes out, and the parts of the product need not be finite.
    return select(power, select(f32(0.0), infinity_f32(), estimate > f32(0.0)), abs(estimate) > f32(160.0));
}
