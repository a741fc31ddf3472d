// The cosine of r.x + r.y within [-pi/4, pi/4], after fdlibm's k_cos.c.
fn cos_polynomial_f64(r: vec2<f64>) -> f64 {
    let z = r.x * r.x;
    let w = z * z;
    let p = z * (4.16666666666666019037e-2 + z * (-1.38888888888741095749e-3 + z * 2.48015872894767294178e-5))
        + w * w * (-2.75573143513906633035e-7 + z * (2.08757232129817482790e-9 + z * -1.13596475577881948265e-11));
    let half = keep_f64(0.5 * z);
    let first = keep_f64(1.0 - half);
    let rest = keep_f64(keep_f64(1.0 - first) - half);
    return first + (rest + keep_f64(z * p - r.x * r.y));
}
