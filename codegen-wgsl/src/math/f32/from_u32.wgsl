// The nearest f32, ties to even. Some drivers convert numbers from 2^31 on in two steps; here they are halved first,
// the bit shifted out being joined to the next so that ties stay told apart.
fn u32_to_f32(x: u32) -> f32 {
    let half = f32(bitcast<i32>((x >> u32(1u)) | (x & u32(1u))));
    return select(f32(bitcast<i32>(x)), half + half, x >= u32(0x80000000u));
}
