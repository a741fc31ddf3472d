// past_masked_part_fusion

@group(0) @binding(0) var<storage, read> scores: array<f32>;  // f32[2,16,16]
@group(0) @binding(1) var<storage, read_write> part_out: array<f32>;  // f32[2,5,16]
struct Params { zero: u32, zero_apart: u32, zero_chosen: u32, zero_constant: u32 }
@group(0) @binding(2) var<uniform> params: Params;
var<private> zeros: Params;

fn keep(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ zeros.zero);
}

fn keep_apart(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ zeros.zero_apart);
}

fn keep_chosen(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ zeros.zero_chosen);
}

fn part(d0: u32) -> f32 {
    let at0 = (d0 >> 4u) % 5u;
    let rows = i32(14u - at0 * 3u);
    let at1 = d0 & 15u;
    let columns = i32(at1);
    let past = columns <= rows;
    return select(bitcast<f32>(0xff800000u ^ zeros.zero_constant), scores[at1 + d0 / 80u * 256u + 224u - at0 * 48u], past);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    let at0 = group.x * 64u + lane;
    if at0 <= 159u {
        part_out[at0] = part(at0);
    }
}
