// x^y = exp(y log(x)) for positive finite x and finite y, with the logarithm and its product as sums.
fn power_positive_f64(x: f64, y: f64) -> f64 {
    let log = log_sum_f64(x);
    // So great an exponent leaves nothing but limits, of which a smaller one tells the same.
    let great = select(select(y, 1e19lf, y > 1e19), -1e19lf, y < -1e19);
    let product = product_of_sums_f64(log, vec2<f64>(great, 0.0lf));
    let is_limit = abs(product.x) > 790.0;
    let exponent = select(product.x, copy_sign_f64(790.0lf, product.x), is_limit);
    let parts = exp_parts_f64(exponent);
    let power = keep_f64(1.0 + parts.x);
    return scale_f64(power + power * select(product.y, 0.0lf, is_limit), i32(parts.y));
}
