// The tangent of x in radians, accurate for every finite x; NaN for infinities. After fdlibm's k_tan.c: beyond 0.67 by the angle that is
// left to pi/4, and the reciprocal in the odd quadrants with what its halves lack.
fn tan_f64(x: f64) -> f64 {
    var quadrant: u32;
    let r = reduce_quadrant_f64(select(0.0lf, abs(x), is_finite_f64(x)), &quadrant);
    let is_odd = (quadrant & 1u) == 1u;
    let is_negative = r.x < 0.0;
    let magnitude = select(r, -r, is_negative);
    let is_big = magnitude.x >= 0.6744;
    let left = keep_f64(7.85398163397448278999e-1 - magnitude.x) + keep_f64(3.06161699786838301793e-17 - magnitude.y);
    let a = select(magnitude.x, left, is_big);
    let b = select(magnitude.y, 0.0lf, is_big);
    let z = a * a;
    let w = z * z;
    let odd = 1.33333333333201242699e-1 + w * (2.18694882948595424599e-2 + w * (3.59207910759131235356e-3
        + w * (5.88041240820264096874e-4 + w * (7.81794442939557092300e-5 + w * -1.85586374855275456654e-5))));
    let even = z * (5.39682539762260521377e-2 + w * (8.86323982359930005737e-3 + w * (1.45620945432529025516e-3
        + w * (2.46463134818469906812e-4 + w * (7.14072491382608190305e-5 + w * 2.59073051863633712884e-5)))));
    let s = z * a;
    let tail = keep_f64(b + z * keep_f64(s * (odd + even) + b) + s * 3.33333333333334091986e-1);
    let t = keep_f64(a + tail);
    let side = select(1.0lf, -1.0lf, is_odd);
    let of_big = side - 2.0 * keep_f64(a + keep_f64(tail - t * t / keep_f64(t + side)));
    // -1 / (a + tail)
    let t_high = bitcast<f64>(bitcast<u64>(t) & 0xffffffff00000000lu);
    let t_low = keep_f64(tail - keep_f64(t_high - a));
    let inverse = keep_f64(-1.0 / t);
    let inverse_high = bitcast<f64>(bitcast<u64>(inverse) & 0xffffffff00000000lu);
    let lacking = keep_f64(keep_f64(1.0 + keep_f64(inverse_high * t_high)) + keep_f64(inverse_high * t_low));
    let turned = inverse_high + inverse * lacking;
    let y = select(select(t, turned, is_odd), of_big, is_big);
    let sign = (high_f64(x) & 0x80000000u) ^ select(0u, 0x80000000u, is_negative);
    return select(nan_f64(), join_f64(low_f64(y), high_f64(y) ^ sign), is_finite_f64(x));
}
