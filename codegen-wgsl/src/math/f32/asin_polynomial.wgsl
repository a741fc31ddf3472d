// asin(x) for |x| <= 1/2, with the polynomial of Cephes' asinf.
fn asin_polynomial_f32(x: f32) -> f32 {
    let z = x * x;
    let p = (((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z + 7.4953002686e-2) * z
        + 1.6666752422e-1;
    return p * z * x + x;
}
