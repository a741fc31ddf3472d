// sin(r) for |r| <= pi/4, with the polynomial of Cephes' sinf.
fn sin_polynomial_f32(r: f32) -> f32 {
    let z = r * r;
    return ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * r + r;
}
