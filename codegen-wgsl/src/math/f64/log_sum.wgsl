// log(x) as the sum of a number and a smaller one, to 2^-64 of itself or better, for positive finite x: the series of the area tangent of
// s = f / (2 + f), of which the first two terms are sums too.
fn log_sum_f64(x: f64) -> vec2<f64> {
    let parts = significand_f64(x);
    let f = keep_f64(parts.x - 1.0);
    let divisor = two_sum_f64(2.0lf, f);
    let s = keep_f64(f / divisor.x);
    let product = keep_f64(s * divisor.x);
    let rest = keep_f64(keep_f64(f - product) - two_product_error_f64(s, divisor.x, product));
    let quotient = vec2<f64>(s, keep_f64(rest - s * divisor.y) / divisor.x);
    let square = product_of_sums_f64(quotient, quotient);
    let cube = product_of_sums_f64(square, quotient);
    let third = product_of_sums_f64(cube, vec2<f64>(0.6666666666666666, 3.700743415417188e-17));
    let z = square.x;
    let p = ((((((((((0.07407407407407407 * z + 0.08) * z + 0.08695652173913043) * z
        + 0.09523809523809523) * z + 0.10526315789473684) * z + 0.11764705882352941) * z
        + 0.13333333333333333) * z + 0.15384615384615385) * z + 0.18181818181818182) * z
        + 0.2222222222222222) * z + 0.2857142857142857) * z + 0.4;
    let tail = keep_f64(cube.x * z * p);
    let first = two_sum_f64(parts.y * 6.93147180369123816490e-1, 2.0 * s);
    let second = two_sum_f64(first.x, third.x);
    let small = keep_f64(first.y + second.y) + keep_f64(2.0 * quotient.y + third.y);
    let low = keep_f64(small + keep_f64(tail + parts.y * 1.90821492927058770002e-10));
    let sum = keep_f64(second.x + low);
    return vec2<f64>(sum, low - keep_f64(sum - second.x));
}
