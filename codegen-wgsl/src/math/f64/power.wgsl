// x^y with the rules of C's pow, as power_f32; from 2^53 on every number is even.
fn power_f64(x: f64, y: f64) -> f64 {
    let a = abs(x);
    let half = y * 0.5;
    let is_whole = floor(y) == y;
    let is_odd = is_whole & (floor(half) < half);
    let is_negative = high_f64(x) >= 0x80000000u;
    let is_zero = a == 0.0;
    let is_infinite = (a > 1.0) & !is_finite_f64(a);
    let is_limit = (abs(y) > 1.0) & !is_finite_f64(y);
    let is_special = is_zero | is_infinite | is_limit | is_nan_f64(x) | is_nan_f64(y);
    let of_limit = select(0.0lf, infinity_f64(), is_zero == (y < 0.0));
    let at_limit = select(0.0lf, infinity_f64(), (a > 1.0) == (y > 0.0));
    let positive = power_positive_f64(select(a, 1.0lf, is_special), select(y, 1.0lf, is_special));
    let power = select(positive, nan_f64(), is_negative & !is_whole);
    let at_infinity = select(power, select(at_limit, 1.0lf, a == 1.0), is_limit);
    let of_any = select(at_infinity, of_limit, is_zero | is_infinite);
    let signed = select(of_any, -of_any, is_negative & is_odd);
    let of_numbers = select(signed, nan_f64(), is_nan_f64(x) | is_nan_f64(y));
    return select(of_numbers, 1.0lf, (x == 1.0) | (y == 0.0));
}
