// The cube root, after FreeBSD's s_cbrt.c: a third of the exponent, a polynomial to 23 bits, one step of Newton's method.
fn cbrt_f64(x: f64) -> f64 {
    let a = abs(x);
    let is_subnormal = a < 2.2250738585072014e-308;
    let is_itself = is_nan_f64(x) | (a == 0.0) | !is_finite_f64(x);
    let y = select(select(a, a * 18014398509481984.0, is_subnormal), 1.0lf, is_itself);
    let estimate = join_f64(0u, high_f64(y) / 3u + select(715094163u, 696219795u, is_subnormal));
    let z = select(a, 1.0lf, is_itself);
    let r = keep_f64(estimate * estimate) * keep_f64(estimate / z);
    let t = estimate * ((1.87595182427177009643 + r * (-1.88497979543377169875 + r * 1.621429720105354466140))
        + ((r * r) * r) * (-0.758397934778766047437 + r * 0.145996192886612446982));
    let short = bitcast<f64>((bitcast<u64>(t) + 0x80000000lu) & 0xffffffffc0000000lu);
    let quotient = keep_f64(z / keep_f64(short * short));
    let step = keep_f64(quotient - short) / (2.0 * short + quotient);
    return select(copy_sign_f64(short + short * step, x), x, is_itself);
}
