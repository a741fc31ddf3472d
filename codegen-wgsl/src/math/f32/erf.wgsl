// The error function: up to 1 an odd polynomial, beyond it 1 - exp(-a R(a)) with a polynomial R. Both are our own fits
// for least relative error (2^-29 and 2^-31) by Lawson's iteration; from 4 on the result rounds to 1.
fn erf_f32(x: f32) -> f32 {
    let a = abs(x);
    if (is_nan_f32(x)) {
        return x;
    }
    // The terms of the polynomial's end would be subnormal here, and the rest is zero.
    if (a < 1e-20) {
        return x * 1.1283791671;
    }
    if (a < 1.0) {
        let z = x * x;
        let q = (((((7.8539067397e-5 * z - 8.0102085061e-4) * z + 5.1883295656e-3) * z - 2.6853813078e-2) * z
            + 1.1283585182e-1) * z - 3.7612625829e-1) * z + 1.2837916573e-1;
        return x * q + x;
    }
    let b = min(a, 4.0);
    let r = (((((1.3962285731e-5 * b - 3.5059047882e-4) * b + 3.7574705885e-3) * b - 2.4010055585e-2) * b
        + 1.0653085046e-1) * b + 6.3496954006e-1) * b + 1.1286943347;
    return copy_sign_f32(1.0 - exp_f32(keep(-b * r)), x);
}
