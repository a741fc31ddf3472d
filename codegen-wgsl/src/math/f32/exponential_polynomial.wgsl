// exp(r) - 1 for |r| <= ln(2) / 2: r + r^2 P(r) with the polynomial of Cephes' expf.
fn exponential_polynomial_f32(r: f32) -> f32 {
    let p = ((((1.9875691500e-4 * r + 1.3981999507e-3) * r + 8.3334519073e-3) * r + 4.1665795894e-2) * r
        + 1.6666665459e-1) * r + 5.0000001201e-1;
    return r * r * p + r;
}
