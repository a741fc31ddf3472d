// A key whose order as a whole number is the total order of IEEE 754: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN.
fn total_order_f32(x: f32) -> i32 {
    let bits = bitcast<i32>(x);
    return bits ^ ((bits >> u32(31u)) & i32(0x7fffffff));
}
