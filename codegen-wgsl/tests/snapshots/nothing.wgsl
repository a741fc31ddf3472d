// exp_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[0,3]
@group(0) @binding(1) var<storage, read_write> exp_out: array<f32>;  // f32[0,3]
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

fn exp_v(d0: u32) -> f32 {
    return exp_f32(0.0f);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
}

// sums_negated_fusion

@group(0) @binding(0) var<storage, read> y: array<i32>;  // s32[]
@group(0) @binding(1) var<storage, read> z: array<i32>;  // s32[2,0]
@group(0) @binding(2) var<storage, read_write> sums_out: array<i32>;  // s32[2]
@group(0) @binding(3) var<storage, read_write> negated_out: array<i32>;  // s32[]
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

fn sums(d0: u32) -> i32 {
    return 7i;
}

fn negated(d0: u32) -> i32 {
    return negate_i32(y[0u]);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    if lane <= 1u {
        sums_out[lane] = sums(lane);
    }
    if lane == 0u {
        negated_out[0u] = negated(0u);
    }
}
