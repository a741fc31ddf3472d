// log((1 + f) 2^e) for 1 + f in [sqrt(1/2), sqrt(2)), after FreeBSD's logf: log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R) with s = f / (2 + f), and an
// even polynomial R of s; ln(2) comes in two parts, of which e times the first is exact. A quotient more, but a third of the operations less than a
// polynomial of f would need.
fn log_polynomial_f32(f: f32, e: f32) -> f32 {
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let r = z * (6.6666662693e-1 + w * 2.8498786688e-1) + w * (4.0000972152e-1 + w * 2.4279078841e-1);
    let h = 0.5 * f * f;
    let tail = keep(h - (s * (h + r) - e * 2.12194440e-4));
    return e * 0.693359375 - keep(tail - f);
}
