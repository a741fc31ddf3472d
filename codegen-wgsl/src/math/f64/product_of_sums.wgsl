// The product of two numbers that are sums, each of a number and a smaller one, as such a sum.
fn product_of_sums_f64(x: vec2<f64>, y: vec2<f64>) -> vec2<f64> {
    let product = keep_f64(x.x * y.x);
    let rest = keep_f64(two_product_error_f64(x.x, y.x, product) + keep_f64(x.x * y.y + x.y * y.x));
    let sum = keep_f64(product + rest);
    return vec2<f64>(sum, rest - keep_f64(sum - product));
}
