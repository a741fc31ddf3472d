// The arc cosine, after fdlibm's e_acos.c. NaN beyond 1.
fn acos_f64(x: f64) -> f64 {
    let a = abs(x);
    let is_near = a < 0.5;
    let z = select(keep_f64(1.0 - a) * 0.5, a * a, is_near);
    let p = asin_rational_f64(z);
    let s = keep_f64(sqrt(z));
    let near = 1.57079632679489655800 - keep_f64(x - keep_f64(6.12323399573676603587e-17 - x * p));
    let left = 2.0 * (1.57079632679489655800 - keep_f64(s + keep_f64(p * s - 6.12323399573676603587e-17)));
    let high = bitcast<f64>(bitcast<u64>(s) & 0xffffffff00000000lu);
    let low = select(keep_f64(z - high * high) / keep_f64(s + high), 0.0lf, z == 0.0);
    let right = 2.0 * (high + keep_f64(p * s + low));
    let y = select(select(right, left, x < 0.0), near, is_near);
    return select(y, nan_f64(), (a > 1.0) | is_nan_f64(x));
}
