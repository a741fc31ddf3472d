// The arc sine, after fdlibm's e_asin.c: from 1/2 on by the root of half of what is left to 1. NaN beyond 1.
fn asin_f64(x: f64) -> f64 {
    let a = abs(x);
    let is_far = a >= 0.5;
    let z = select(a * a, keep_f64(1.0 - a) * 0.5, is_far);
    let p = asin_rational_f64(z);
    let s = keep_f64(sqrt(z));
    let high = bitcast<f64>(bitcast<u64>(s) & 0xffffffff00000000lu);
    let low = keep_f64(z - high * high) / keep_f64(s + high);
    let middle = keep_f64(2.0 * s * p) - keep_f64(6.12323399573676603587e-17 - 2.0 * low);
    let far = 7.85398163397448278999e-1 - keep_f64(middle - keep_f64(7.85398163397448278999e-1 - 2.0 * high));
    let last = 1.57079632679489655800 - keep_f64(2.0 * keep_f64(s + s * p) - 6.12323399573676603587e-17);
    let y = select(a + a * p, select(far, last, a > 0.975), is_far);
    return select(copy_sign_f64(y, x), nan_f64(), (a > 1.0) | is_nan_f64(x));
}
