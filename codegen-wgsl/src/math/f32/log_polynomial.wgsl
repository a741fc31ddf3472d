// log((1 + f) 2^e) for 1 + f in [sqrt(1/2), sqrt(2)), with the polynomial of Cephes' logf; ln(2) comes in two parts,
// of which e times the first is exact.
fn log_polynomial_f32(f: f32, e: f32) -> f32 {
    let z = f * f;
    let p = (((((((7.0376836292e-2 * f - 1.1514610310e-1) * f + 1.1676998740e-1) * f - 1.2420140846e-1) * f
        + 1.4249322787e-1) * f - 1.6668057665e-1) * f + 2.0000714765e-1) * f - 2.4999993993e-1) * f + 3.3333331174e-1;
    let tail = keep(f * z * p - e * 2.12194440e-4 - 0.5 * z);
    return keep(f + tail) + e * 0.693359375;
}
