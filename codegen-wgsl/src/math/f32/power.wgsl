// x^y with the rules of C's pow: 1 where y is 0 or x is 1, a sign where x is negative and y odd, NaN where x is
// negative and y not whole.
fn power_f32(x: f32, y: f32) -> f32 {
    if (x == 1.0 || y == 0.0) {
        return 1.0;
    }
    if (is_nan_f32(x) || is_nan_f32(y)) {
        return nan_f32();
    }
    let a = abs(x);
    let negative = bitcast<u32>(x) >= 0x80000000u;
    // From 2^24 on every number is even.
    let large = abs(y) >= 16777216.0;
    let whole = large || trunc(y) == y;
    let odd = !large && whole && (i32(clamp(y, -16777216.0, 16777216.0)) & 1) == 1;
    var power = 0.0;
    if (a == 0.0 || !is_finite_f32(x)) {
        power = select(0.0, infinity_f32(), (a == 0.0) == (y < 0.0));
    } else if (!is_finite_f32(y)) {
        power = select(select(0.0, infinity_f32(), (a > 1.0) == (y > 0.0)), 1.0, a == 1.0);
    } else if (negative && !whole) {
        power = nan_f32();
    } else {
        power = power_positive_f32(a, y);
    }
    return select(power, -power, negative && odd);
}
