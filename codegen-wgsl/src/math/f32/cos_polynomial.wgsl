// cos(r) for |r| <= pi/4, with the polynomial of Cephes' cosf.
fn cos_polynomial_f32(r: f32) -> f32 {
    let z = r * r;
    return ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z - 0.5 * z + 1.0;
}
