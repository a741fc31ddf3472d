// True except for the two zeros; a bit test, for subnormal numbers and NaN are true.
fn f32_to_bool(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) != 0u;
}
