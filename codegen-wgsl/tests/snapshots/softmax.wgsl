// max_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read_write> max_out: array<f32>;  // f32[17]
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

fn max_v(d0: u32) -> f32 {
    var max_acc_2: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_3: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_4: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_5: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_6: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_7: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_8: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_9: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_10: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_11: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_12: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_13: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_14: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_15: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_16: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    var max_acc_17: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
    for (var s0 = 0u; s0 < 8u; s0++) {
        let larger_2 = max_f32(max_acc_2, x[d0 * 129u + s0 * 16u]);
        let larger_3 = max_f32(max_acc_3, x[d0 * 129u + s0 * 16u + 1u]);
        let larger_4 = max_f32(max_acc_4, x[d0 * 129u + s0 * 16u + 2u]);
        let larger_5 = max_f32(max_acc_5, x[d0 * 129u + s0 * 16u + 3u]);
        let larger_6 = max_f32(max_acc_6, x[d0 * 129u + s0 * 16u + 4u]);
        let larger_7 = max_f32(max_acc_7, x[d0 * 129u + s0 * 16u + 5u]);
        let larger_8 = max_f32(max_acc_8, x[d0 * 129u + s0 * 16u + 6u]);
        let larger_9 = max_f32(max_acc_9, x[d0 * 129u + s0 * 16u + 7u]);
        let larger_10 = max_f32(max_acc_10, x[d0 * 129u + s0 * 16u + 8u]);
        let larger_11 = max_f32(max_acc_11, x[d0 * 129u + s0 * 16u + 9u]);
        let larger_12 = max_f32(max_acc_12, x[d0 * 129u + s0 * 16u + 10u]);
        let larger_13 = max_f32(max_acc_13, x[d0 * 129u + s0 * 16u + 11u]);
        let larger_14 = max_f32(max_acc_14, x[d0 * 129u + s0 * 16u + 12u]);
        let larger_15 = max_f32(max_acc_15, x[d0 * 129u + s0 * 16u + 13u]);
        let larger_16 = max_f32(max_acc_16, x[d0 * 129u + s0 * 16u + 14u]);
        let larger_17 = max_f32(max_acc_17, x[d0 * 129u + s0 * 16u + 15u]);
        max_acc_2 = larger_2;
        max_acc_3 = larger_3;
        max_acc_4 = larger_4;
        max_acc_5 = larger_5;
        max_acc_6 = larger_6;
        max_acc_7 = larger_7;
        max_acc_8 = larger_8;
        max_acc_9 = larger_9;
        max_acc_10 = larger_10;
        max_acc_11 = larger_11;
        max_acc_12 = larger_12;
        max_acc_13 = larger_13;
        max_acc_14 = larger_14;
        max_acc_15 = larger_15;
        max_acc_16 = larger_16;
        max_acc_17 = larger_17;
    }
    let max_v_3 = keep(max_acc_2);
    let larger_19 = max_f32(max_v_3, x[d0 * 129u + 128u]);
    let max_v_20 = max_f32(larger_19, max_acc_10);
    let max_v_21 = max_f32(max_acc_3, max_acc_11);
    let max_v_22 = max_f32(max_acc_4, max_acc_12);
    let max_v_23 = max_f32(max_acc_5, max_acc_13);
    let max_v_24 = max_f32(max_acc_6, max_acc_14);
    let max_v_25 = max_f32(max_acc_7, max_acc_15);
    let max_v_26 = max_f32(max_acc_8, max_acc_16);
    let max_v_27 = max_f32(max_acc_9, max_acc_17);
    let max_v_28 = max_f32(max_v_20, max_v_24);
    let max_v_29 = max_f32(max_v_21, max_v_25);
    let max_v_30 = max_f32(max_v_22, max_v_26);
    let max_v_31 = max_f32(max_v_23, max_v_27);
    let max_v_32 = max_f32(max_v_28, max_v_30);
    let max_v_33 = max_f32(max_v_29, max_v_31);
    return max_f32(max_v_32, max_v_33);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params(params.zero & lane, params.zero_apart & lane, params.zero_chosen & lane, params.zero_constant & lane);
    if lane <= 16u {
        max_out[lane] = max_v(lane);
    }
}

// shifted_exp_total_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read> max_v: array<f32>;  // f32[17]
@group(0) @binding(2) var<storage, read_write> total_out: array<f32>;  // f32[17]
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

fn total(d0: u32) -> f32 {
    let max_value_2 = max_v[d0];
    let max_value_3 = max_v[d0];
    let max_value_4 = max_v[d0];
    let max_value_5 = max_v[d0];
    var total_acc_2: f32 = keep(0.0f);
    var total_acc_3: f32 = bitcast<f32>(0x80000000u ^ zeros.zero_constant);
    var total_acc_4: f32 = bitcast<f32>(0x80000000u ^ zeros.zero_constant);
    var total_acc_5: f32 = bitcast<f32>(0x80000000u ^ zeros.zero_constant);
    for (var s0 = 0u; s0 < 32u; s0++) {
        let shifted_2 = x[d0 * 129u + s0 * 4u] - max_value_2;
        let exp_v_2 = keep(exp_f32(shifted_2));
        let sum_2 = total_acc_2 + exp_v_2;
        let shifted_3 = x[d0 * 129u + s0 * 4u + 1u] - max_value_3;
        let exp_v_3 = keep(exp_f32(shifted_3));
        let sum_3 = total_acc_3 + exp_v_3;
        let shifted_4 = x[d0 * 129u + s0 * 4u + 2u] - max_value_4;
        let exp_v_4 = keep(exp_f32(shifted_4));
        let sum_4 = total_acc_4 + exp_v_4;
        let shifted_5 = x[d0 * 129u + s0 * 4u + 3u] - max_value_5;
        let exp_v_5 = keep(exp_f32(shifted_5));
        let sum_5 = total_acc_5 + exp_v_5;
        total_acc_2 = sum_2;
        total_acc_3 = sum_3;
        total_acc_4 = sum_4;
        total_acc_5 = sum_5;
    }
    let total_3 = keep(total_acc_2);
    let total_4 = keep(total_acc_3);
    let total_5 = keep(total_acc_4);
    let total_6 = keep(total_acc_5);
    let shifted_7 = x[d0 * 129u + 128u] - max_v[d0];
    let exp_v_13 = keep(exp_f32(shifted_7));
    let total_7 = keep(total_3 + exp_v_13);
    let total_8 = keep(total_7 + total_5);
    let total_9 = keep(total_4 + total_6);
    return total_8 + total_9;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params(params.zero & lane, params.zero_apart & lane, params.zero_chosen & lane, params.zero_constant & lane);
    if lane <= 16u {
        total_out[lane] = total(lane);
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
