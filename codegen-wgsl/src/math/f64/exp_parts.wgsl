// exp(r) - 1 and n with exp(x) = 2^n exp(r) and r = x - n ln(2), for x within [-800, 800]: a rational function as in fdlibm's e_exp.c. ln(2)
// comes in two parts, of which n times the first is exact.
fn exp_parts_f64(x: f64) -> vec2<f64> {
    let n = floor(x * 1.4426950408889634 + 0.5);
    let high = keep_f64(x - n * 6.93147180369123816490e-1);
    let low = keep_f64(n * 1.90821492927058770002e-10);
    let r = keep_f64(high - low);
    let z = r * r;
    let c = r - z * (1.66666666666666019037e-1 + z * (-2.77777777770155933842e-3 + z * (6.61375632143793436117e-5
        + z * (-1.65339022054652515390e-6 + z * 4.13813679705723846039e-8))));
    return vec2<f64>(keep_f64(r * c / (2.0 - c) - low) + high, n);
}
