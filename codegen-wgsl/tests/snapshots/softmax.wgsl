// max_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read_write> max_out: array<f32>;  // f32[17]
var<workgroup> shared_f32: array<f32, 256>;  // f32[256]
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

fn x_2(d0: u32) -> f32 {
    return x[d0];
}

fn larger(a: f32, b: f32) -> f32 {
    return keep(max_f32(a, b));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params(params.zero & lane, params.zero_apart & lane, params.zero_chosen & lane, params.zero_constant & lane);
    let at0 = lane & 31u;
    let at1 = lane >> 5u;
    let at2 = group.x * 8u + at1;
    var chosen_2: f32;
    if at2 <= 16u {
        let larger_5 = max_f32(bitcast<f32>(0xff800000u ^ zeros.zero_constant), x_2(group.x * 1032u + lane + at1 * 97u));
        let larger_6 = max_f32(larger_5, x_2(group.x * 1032u + lane + at1 * 97u + 32u));
        let larger_7 = max_f32(larger_6, x_2(group.x * 1032u + lane + at1 * 97u + 64u));
        let max_v_18 = keep(max_f32(larger_7, x_2(group.x * 1032u + lane + at1 * 97u + 96u)));
        var chosen_4: f32;
        if at0 + 128u == 128u {
            chosen_4 = keep(max_f32(max_v_18, x_2(group.x * 1032u + lane + at1 * 97u + 128u)));
        } else {
            chosen_4 = max_v_18;
        }
        chosen_2 = chosen_4;
    } else {
        chosen_2 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    }
    shared_f32[lane] = chosen_2;
    workgroupBarrier();
    if at0 <= 15u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[lane + 16u]);
    }
    workgroupBarrier();
    if at0 <= 7u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[lane + 8u]);
    }
    workgroupBarrier();
    if at0 <= 3u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[lane + 4u]);
    }
    workgroupBarrier();
    if at0 <= 1u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[lane + 2u]);
    }
    workgroupBarrier();
    if at0 == 0u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[lane + 1u]);
    }
    workgroupBarrier();
    let max_v_2 = shared_f32[at1 * 32u];
    if (at2 <= 16u) & (at0 == 0u) {
        max_out[at2] = max_v_2;
    }
}

// shifted_exp_total_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read> max_v: array<f32>;  // f32[17]
@group(0) @binding(2) var<storage, read_write> total_out: array<f32>;  // f32[17]
var<workgroup> shared_f32: array<f32, 256>;  // f32[256]
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

fn exp_v(d0: u32) -> f32 {
    let shifted = x[d0] - max_v[d0 / 129u];
    return keep(exp_f32(shifted));
}

fn sum(a: f32, b: f32) -> f32 {
    return keep(a + b);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params(params.zero & lane, params.zero_apart & lane, params.zero_chosen & lane, params.zero_constant & lane);
    let at0 = lane & 31u;
    let at1 = lane >> 5u;
    let at2 = group.x * 8u + at1;
    var chosen_2: f32;
    if at2 <= 16u {
        let sum_6 = bitcast<f32>(0x80000000u ^ zeros.zero_constant) + exp_v(group.x * 1032u + lane + at1 * 97u);
        let sum_7 = sum_6 + exp_v(group.x * 1032u + lane + at1 * 97u + 32u);
        let sum_8 = sum_7 + exp_v(group.x * 1032u + lane + at1 * 97u + 64u);
        let total_18 = keep(sum_8 + exp_v(group.x * 1032u + lane + at1 * 97u + 96u));
        var chosen_4: f32;
        if at0 + 128u == 128u {
            chosen_4 = keep(keep_chosen(total_18) + exp_v(group.x * 1032u + lane + at1 * 97u + 128u));
        } else {
            chosen_4 = total_18;
        }
        chosen_2 = chosen_4;
    } else {
        chosen_2 = bitcast<f32>(0x80000000u ^ zeros.zero_constant);
    }
    shared_f32[lane] = chosen_2;
    workgroupBarrier();
    if at0 <= 15u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[lane + 16u]);
    }
    workgroupBarrier();
    if at0 <= 7u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[lane + 8u]);
    }
    workgroupBarrier();
    if at0 <= 3u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[lane + 4u]);
    }
    workgroupBarrier();
    if at0 <= 1u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[lane + 2u]);
    }
    workgroupBarrier();
    if at0 == 0u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[lane + 1u]);
    }
    workgroupBarrier();
    let sum_3 = keep(0.0f) + shared_f32[at1 * 32u];
    if (at2 <= 16u) & (at0 == 0u) {
        total_out[at2] = sum_3;
    }
}

// shifted_exp_softmax_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read> max_v: array<f32>;  // f32[17]
@group(0) @binding(2) var<storage, read> total: array<f32>;  // f32[17]
@group(0) @binding(3) var<storage, read_write> softmax_out: array<f32>;  // f32[17,129]
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

fn softmax(d0: u32) -> f32 {
    let at0 = d0 / 129u;
    let shifted = x[d0] - max_v[at0];
    let exp_v = keep(exp_f32(shifted));
    let total_value = total[at0];
    let softmax_quotient = keep(exp_v / total_value);
    let softmax_bits = bitcast<u32>(softmax_quotient);
    let softmax_cut = softmax_bits & 4294963200u;
    let softmax_high = keep(bitcast<f32>(bitcast<u32>(softmax_cut) ^ zeros.zero_constant));
    let softmax_low = keep(softmax_quotient - keep_apart(softmax_high));
    let softmax_bits_2 = bitcast<u32>(total_value);
    let softmax_cut_2 = softmax_bits_2 & 4294963200u;
    let softmax_high_2 = keep(bitcast<f32>(bitcast<u32>(softmax_cut_2) ^ zeros.zero_constant));
    let softmax_low_2 = keep(total_value - softmax_high_2);
    let softmax_product = softmax_high * softmax_high_2;
    let softmax_rest = keep(exp_v - softmax_product);
    let softmax_product_2 = softmax_high * softmax_low_2;
    let softmax_rest_2 = keep(softmax_rest - softmax_product_2);
    let softmax_product_3 = softmax_low * softmax_high_2;
    let softmax_rest_3 = keep(softmax_rest_2 - softmax_product_3);
    let softmax_product_4 = softmax_low * softmax_low_2;
    let softmax_rest_4 = keep(softmax_rest_3 - softmax_product_4);
    let softmax_lacking = keep(softmax_rest_4 / total_value);
    let softmax_better = softmax_quotient + softmax_lacking;
    let softmax_bits_3 = bitcast<u32>(exp_v);
    let softmax_magnitude = softmax_bits_3 & 2147483647u;
    let softmax_above = softmax_magnitude - 310378496u;
    let softmax_within = softmax_above < 1820327936u;
    let softmax_chosen = select(softmax_quotient, softmax_better, softmax_within);
    let softmax_bits_4 = bitcast<u32>(total_value);
    let softmax_magnitude_2 = softmax_bits_4 & 2147483647u;
    let softmax_above_2 = softmax_magnitude_2 - 226492416u;
    let softmax_within_2 = softmax_above_2 < 1677721600u;
    let softmax_chosen_2 = select(softmax_quotient, softmax_chosen, softmax_within_2);
    let softmax_bits_5 = bitcast<u32>(softmax_quotient);
    let softmax_magnitude_3 = softmax_bits_5 & 2147483647u;
    let softmax_above_3 = softmax_magnitude_3 - 226492416u;
    let softmax_within_3 = softmax_above_3 < 1677721600u;
    return select(softmax_quotient, softmax_chosen_2, softmax_within_3);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params(params.zero & lane, params.zero_apart & lane, params.zero_chosen & lane, params.zero_constant & lane);
    let at0 = group.x * 64u + lane;
    if at0 <= 2192u {
        softmax_out[at0] = softmax(at0);
    }
}
