// True except for the two zeros; a bit test, for subnormal numbers and NaN are true.
fn f32_to_bool(x: f32) -> bool {
    return (bitcast<u32>(x) << u32(1u)) != u32(0u);
}
