// log((1 + f) 2^n) + c for 1 + f in [sqrt(1/2), sqrt(2)) and small c, after fdlibm's e_log.c: of s = f / (2 + f). ln(2) comes in two parts, of
// which n times the first is exact.
fn log_polynomial_f64(f: f64, n: f64, c: f64) -> f64 {
    let s = keep_f64(f / (2.0 + f));
    let z = s * s;
    let w = z * z;
    let even = w * (3.999999999940941908e-1 + w * (2.222219843214978396e-1 + w * 1.531383769920937332e-1));
    let odd = z * (6.666666666666735130e-1 + w * (2.857142874366239149e-1 + w * (1.818357216161805012e-1
        + w * 1.479819860511658591e-1)));
    let half_square = keep_f64(0.5 * f * f);
    let tail = keep_f64(s * (half_square + (even + odd))) + keep_f64(n * 1.90821492927058770002e-10 + c);
    return keep_f64(keep_f64(tail - half_square) + f) + n * 6.93147180369123816490e-1;
}
