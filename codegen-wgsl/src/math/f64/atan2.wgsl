// The angle of the point (x, y), signed like y, with C's values for zeros and infinities.
fn atan2_f64(y: f64, x: f64) -> f64 {
    let a = abs(x);
    let b = abs(y);
    // Equal magnitudes, two infinities too, have quotient 1, except that of two zeros is 0; great and small ones are first brought
    // nearer to 1, so that no quotient of them is one of subnormal numbers.
    let great = select(a, b, b > a);
    let factor = select(select(1.0lf, 1.8014398509481984e16lf, great < 1e-280), 5.551115123125783e-17lf, great > 1e280);
    let quotient = select((b * factor) / (a * factor), 1.0lf, a == b);
    let angle = atan_positive_f64(keep_f64(select(quotient, 0.0lf, b == 0.0)));
    let turned = 3.141592653589793 - keep_f64(angle - 1.2246467991473532e-16);
    let signed = copy_sign_f64(select(angle, turned, high_f64(x) >= 0x80000000u), y);
    return select(signed, nan_f64(), is_nan_f64(x) | is_nan_f64(y));
}
