// A bit test: drivers fold `x != x` to false. Of signed words, which vectors of CPUs compare at once.
fn is_nan_f32(x: f32) -> bool {
    return (bitcast<i32>(x) & i32(0x7fffffff)) > i32(0x7f800000);
}
