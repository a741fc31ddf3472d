// The angle of the point (x, y), signed like y, with C's values for zeros and infinities. The octant is turned back to
// [0, pi/4], so that the quotient is at most 1.
fn atan2_f32(y: f32, x: f32) -> f32 {
    if (is_nan_f32(x) || is_nan_f32(y)) {
        return nan_f32();
    }
    let a = abs(x);
    let b = abs(y);
    let high = max(a, b);
    let low = min(a, b);
    // Equal magnitudes, two infinities too, have quotient 1, except that of two zeros is 0; great ones are first made
    // smaller, for quotients by the greatest numbers need not be right.
    let factor = select(1.0, 0.25, high > 1e37);
    var t = select((low * factor) / (high * factor), 1.0, low == high);
    t = select(t, 0.0, low == 0.0);
    var angle = atan_unit_f32(keep(t));
    angle = select(angle, 1.5707963267948966 - angle, b > a);
    angle = select(angle, 3.141592653589793 - angle, bitcast<u32>(x) >= 0x80000000u);
    return copy_sign_f32(angle, y);
}
