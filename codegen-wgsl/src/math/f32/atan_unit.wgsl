// atan(t) for t in [0, 1], with the polynomial of Cephes' atanf; above tan(pi/8) the angle is counted from pi/4.
fn atan_unit_f32(t: f32) -> f32 {
    let upper = t > f32(0.41421356);
    let u = select(t, (t - 1.0) / (t + 1.0), upper);
    let z = u * u;
    let p = ((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1;
    return select(f32(0.0), f32(0.7853981633974483), upper) + (p * z * u + u);
}
