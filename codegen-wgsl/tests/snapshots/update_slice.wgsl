// row_old_sum_updated_fusion

@group(0) @binding(0) var<storage, read> i: array<i32>;  // s32[]
@group(0) @binding(1) var<storage, read> n: array<i32>;  // s32[]
@group(0) @binding(2) var<storage, read> u: array<f32>;  // f32[3,6]
@group(0) @binding(3) var<storage, read_write> updated_out: array<f32>;  // f32[8,6]
struct Params { zero: u32, zero_apart: u32, zero_chosen: u32, zero_constant: u32 }
@group(0) @binding(4) var<uniform> params: Params;
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

fn sum(d0: u32, x: f32) -> f32 {
    return x + u[d0];
}

fn row(d0: u32) -> i32 {
    return i[0u] + n[0u];
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    let rt0 = u32(clamp(row(0u), 0i, 5i));
    if lane <= 17u {
        let at1 = lane + rt0 * 6u;
        updated_out[at1] = sum(lane, updated_out[at1]);
    }
}
