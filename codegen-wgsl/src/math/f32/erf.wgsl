// The error function: up to 1 an odd polynomial, beyond it 1 - exp(-a R(a)) with a polynomial R. Both are our own fits
// for least relative error (2^-29 and 2^-31) by Lawson's iteration; from 4 on the result rounds to 1.
fn erf_f32(x: f32) -> f32 {
    let a = abs(x);
    let z = x * x;
    let q = (((((7.8539067397e-5 * z - 8.0102085061e-4) * z + 5.1883295656e-3) * z - 2.6853813078e-2) * z
        + 1.1283585182e-1) * z - 3.7612625829e-1) * z + 1.2837916573e-1;
    // Near zero x * q would be subnormal, and q is its last coefficient.
    let small = select(x * q + x, x * 1.1283791671, a < f32(1e-20));
    let b = select(a, f32(4.0), a > f32(4.0));
    let r = (((((1.3962285731e-5 * b - 3.5059047882e-4) * b + 3.7574705885e-3) * b - 2.4010055585e-2) * b
        + 1.0653085046e-1) * b + 6.3496954006e-1) * b + 1.1286943347;
    let large = copy_sign_f32(1.0 - exp_inner_f32(keep(-b * r)), x);
    return select(select(large, small, a < f32(1.0)), x, is_nan_f32(x));
}
