// The arc tangent of x >= 0, infinity too, after fdlibm's s_atan.c: by what is left of one of four angles.
fn atan_positive_f64(x: f64) -> f64 {
    let is_small = x < 0.4375;
    let is_half = x < 0.6875;
    let is_one = x < 1.1875;
    let is_more = x < 2.4375;
    // Of the same angle the tangent a / b.
    let far_a = select(select(-1.0lf, x - 1.5, is_more), x - 1.0, is_one);
    let far_b = select(select(x, 1.0 + 1.5 * x, is_more), x + 1.0, is_one);
    let a = select(select(far_a, 2.0 * x - 1.0, is_half), x, is_small);
    let b = select(select(far_b, 2.0 + x, is_half), 1.0lf, is_small);
    let high = select(select(select(1.57079632679489655800lf, 9.82793723247329054082e-1lf, is_more),
        7.85398163397448278999e-1lf, is_one), 4.63647609000806093515e-1lf, is_half);
    let low = select(select(select(6.12323399573676603587e-17lf, 1.39033110312309984516e-17lf, is_more),
        3.06161699786838301793e-17lf, is_one), 2.26987774529616870924e-17lf, is_half);
    let t = keep_f64(keep_f64(a) / keep_f64(b));
    let z = t * t;
    let w = z * z;
    let odd = z * (3.33333333333329318027e-1 + w * (1.42857142725034663711e-1 + w * (9.09088713343650656196e-2
        + w * (6.66107313738753120669e-2 + w * (4.97687799461593236017e-2 + w * 1.62858201153657823623e-2)))));
    let even = w * (-1.99999999998764832476e-1 + w * (-1.11111104054623557880e-1 + w * (-7.69187620504482999495e-2
        + w * (-5.83357013379057348645e-2 + w * -3.65315727442169155270e-2))));
    let tail = keep_f64(t * (odd + even));
    return select(high - keep_f64(keep_f64(tail - low) - t), t - tail, is_small);
}
