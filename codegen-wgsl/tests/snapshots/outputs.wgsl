// results

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[6,10]
@group(0) @binding(1) var<storage, read_write> exp_out: array<f32>;  // f32[6,10]
@group(0) @binding(2) var<storage, read_write> sums_out: array<f32>;  // f32[6]
@group(0) @binding(3) var<storage, read_write> negated_out: array<f32>;  // f32[6,10]
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

struct Result_exp_v {
    r0: f32,
    r1: f32,
}

fn exp_v(d0: u32) -> Result_exp_v {
    let exp_v_2 = exp_1(d0 / 10u, d0 % 10u);
    let negated = -exp_v_2;
    return Result_exp_v(exp_v_2, negated);
}

fn sums(d0: u32) -> f32 {
    var sums_acc: f32 = keep(0.0f);
    for (var s0 = 0u; s0 < 10u; s0++) {
        sums_acc = sums_acc + exp_1(d0, s0);
    }
    return sums_acc;
}

fn exp_1(d0: u32, d1: u32) -> f32 {
    return keep(exp_f32(x[d0 * 10u + d1]));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    if lane <= 59u {
        let element_all = exp_v(lane);
        let element = element_all.r0;
        let element_2 = element_all.r1;
        exp_out[lane] = element;
        negated_out[lane] = element_2;
    }
    if lane <= 5u {
        sums_out[lane] = sums(lane);
    }
}
