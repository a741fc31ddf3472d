// max_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read_write> max_out: array<f32>;  // f32[17]
struct Params { zero: u32, zero_apart: u32, zero_chosen: u32, pad: u32 }
@group(0) @binding(2) var<uniform> params: Params;

fn keep(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero);
}

fn keep_apart(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero_apart);
}

fn keep_chosen(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero_chosen);
}

fn max_v(i: u32) -> f32 {
    var max_acc: f32 = bitcast<f32>(0xff800000u ^ params.zero);
    for (var s0 = 0u; s0 < 129u; s0++) {
        max_acc = max_f32(max_acc, x[i * 129u + s0]);
    }
    return max_acc;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if lane <= 16u {
        max_out[lane] = max_v(lane);
    }
}

// shifted_exp_total_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read> max_v: array<f32>;  // f32[17]
@group(0) @binding(2) var<storage, read_write> total_out: array<f32>;  // f32[17]
struct Params { zero: u32, zero_apart: u32, zero_chosen: u32, pad: u32 }
@group(0) @binding(3) var<uniform> params: Params;

fn keep(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero);
}

fn keep_apart(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero_apart);
}

fn keep_chosen(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero_chosen);
}

fn total(i: u32) -> f32 {
    var total_acc: f32 = keep(0.0f);
    for (var s0 = 0u; s0 < 129u; s0++) {
        let shifted = x[i * 129u + s0] - max_v[i];
        let exp_v = keep(exp_f32(shifted));
        total_acc = total_acc + exp_v;
    }
    return total_acc;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if lane <= 16u {
        total_out[lane] = total(lane);
    }
}

// shifted_exp_softmax_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read> max_v: array<f32>;  // f32[17]
@group(0) @binding(2) var<storage, read> total: array<f32>;  // f32[17]
@group(0) @binding(3) var<storage, read_write> softmax_out: array<f32>;  // f32[17,129]
struct Params { zero: u32, zero_apart: u32, zero_chosen: u32, pad: u32 }
@group(0) @binding(4) var<uniform> params: Params;

fn keep(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero);
}

fn keep_apart(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero_apart);
}

fn keep_chosen(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero_chosen);
}

fn softmax(i: u32) -> f32 {
    let d0 = i / 129u;
    let shifted = x[i] - max_v[d0];
    let exp_v = keep(exp_f32(shifted));
    return exp_v / total[d0];
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if group.x * 64u + lane <= 2192u {
        softmax_out[group.x * 64u + lane] = softmax(group.x * 64u + lane);
    }
}
