// x^y with the rules of C's pow: 1 where y is 0 or x is 1, a sign where x is negative and y odd, NaN where x is
// negative and y not whole.
fn power_f32(x: f32, y: f32) -> f32 {
    let a = abs(x);
    // Whole numbers whose halves are not; from 2^24 on every number is even.
    let half = y * 0.5;
    let is_whole = trunc(y) == y;
    let is_odd = is_whole & (trunc(half) != half);
    let is_negative = bitcast<u32>(x) >= u32(0x80000000u);
    let infinity = infinity_f32();
    let is_zero = a == f32(0.0);
    let is_infinite = bitcast<u32>(a) == u32(0x7f800000u);
    let of_limit = select(f32(0.0), infinity, is_zero == (y < f32(0.0)));
    let at_limit = select(f32(0.0), infinity, (a > f32(1.0)) == (y > f32(0.0)));
    let power = select(power_positive_f32(a, y), nan_f32(), is_negative & !is_whole);
    let is_limit = (bitcast<u32>(y) << u32(1u)) == u32(0xff000000u);
    let at_infinity = select(power, select(at_limit, f32(1.0), a == f32(1.0)), is_limit);
    let of_any = select(at_infinity, of_limit, is_zero | is_infinite);
    let signed = select(of_any, -of_any, is_negative & is_odd);
    let of_numbers = select(signed, nan_f32(), is_nan_f32(x) | is_nan_f32(y));
    return select(of_numbers, f32(1.0), (x == f32(1.0)) | (y == f32(0.0)));
}
