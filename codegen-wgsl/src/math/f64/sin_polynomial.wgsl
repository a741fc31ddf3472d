// The sine of r.x + r.y within [-pi/4, pi/4], after fdlibm's k_sin.c.
fn sin_polynomial_f64(r: vec2<f64>) -> f64 {
    let x = r.x;
    let z = x * x;
    let w = z * z;
    let p = 8.33333333332248946124e-3 + z * (-1.98412698298579493134e-4 + z * 2.75573137070700676789e-6)
        + z * w * (-2.50507602534068634195e-8 + z * 1.58969099521155010221e-10);
    let v = z * x;
    return x - keep_f64(keep_f64(z * (0.5 * r.y - v * p) - r.y) - v * -1.66666666666666324348e-1);
}
