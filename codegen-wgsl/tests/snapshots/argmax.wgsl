// both_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[7,33]
@group(0) @binding(1) var<storage, read_write> both_out: array<f32>;  // f32[7]
@group(0) @binding(2) var<storage, read_write> both_out_2: array<i32>;  // s32[7]
struct Params { zero: u32, zero_apart: u32, zero_chosen: u32, zero_constant: u32 }
@group(0) @binding(3) var<uniform> params: Params;
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

struct Result_both {
    r0: f32,
    r1: i32,
}

fn both(d0: u32) -> Result_both {
    var both_acc: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var both_acc_2: i32 = 0i;
    for (var s0 = 0u; s0 < 33u; s0++) {
        let positions = i32(s0);
        let x_value = x[d0 * 33u + s0];
        let gt = both_acc > x_value;
        let is_nan = is_nan_f32(both_acc);
        let first = gt | is_nan;
        let value = select(x_value, both_acc, first);
        let eq = both_acc == x_value;
        let lt = both_acc_2 < positions;
        let earlier = eq & lt;
        let keeps = first | earlier;
        let index = select(positions, both_acc_2, keeps);
        both_acc = value;
        both_acc_2 = index;
    }
    return Result_both(both_acc, both_acc_2);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params(params.zero & lane, params.zero_apart & lane, params.zero_chosen & lane, params.zero_constant & lane);
    if lane <= 6u {
        let element_all = both(lane);
        let element = element_all.r0;
        let element_2 = element_all.r1;
        both_out[lane] = element;
        both_out_2[lane] = element_2;
    }
}
