// The angle of the point (x, y), signed like y, with C's values for zeros and infinities. The octant is turned back to
// [0, pi/4], so that the quotient is at most 1.
fn atan2_f32(y: f32, x: f32) -> f32 {
    let a = abs(x);
    let b = abs(y);
    let high = select(a, b, b > a);
    let low = select(b, a, b > a);
    // Equal magnitudes, two infinities too, have quotient 1, except that of two zeros is 0; great ones are first made
    // smaller, for quotients by the greatest numbers need not be right.
    let factor = select(f32(1.0), f32(0.25), high > f32(1e37));
    let quotient = select((low * factor) / (high * factor), f32(1.0), low == high);
    let octant = atan_unit_f32(keep(select(quotient, f32(0.0), low == f32(0.0))));
    let quadrant = select(octant, 1.5707963267948966 - octant, b > a);
    let angle = select(quadrant, 3.141592653589793 - quadrant, bitcast<u32>(x) >= u32(0x80000000u));
    return select(copy_sign_f32(angle, y), nan_f32(), is_nan_f32(x) | is_nan_f32(y));
}
