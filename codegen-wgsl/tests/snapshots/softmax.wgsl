// shifted_exp_total_softmax_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[17,129]
@group(0) @binding(1) var<storage, read_write> softmax_out: array<f32>;  // f32[17,129]
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

fn softmax(d0: u32, total: f32, exp_v_2: f32) -> f32 {
    let softmax_bits = bitcast<u32>(exp_v_2);
    let softmax_bits_2 = bitcast<u32>(total);
    let softmax_magnitude = softmax_bits & 2147483647u;
    let softmax_magnitude_2 = softmax_bits_2 & 2147483647u;
    let softmax_inverse = keep(1.0f / keep_apart(total));
    let softmax_quotient = keep(exp_v_2 * softmax_inverse);
    let softmax_bits_3 = bitcast<u32>(softmax_quotient);
    let softmax_cut = softmax_bits_3 & 4294963200u;
    let softmax_high = keep(bitcast<f32>(softmax_cut));
    let softmax_low = keep(softmax_quotient - keep_apart(softmax_high));
    let softmax_bits_4 = bitcast<u32>(total);
    let softmax_cut_2 = softmax_bits_4 & 4294963200u;
    let softmax_high_2 = keep(bitcast<f32>(softmax_cut_2));
    let softmax_low_2 = keep(total - keep_apart(softmax_high_2));
    let softmax_product = softmax_high * softmax_high_2;
    let softmax_rest = keep(exp_v_2 - softmax_product);
    let softmax_product_2 = softmax_high * softmax_low_2;
    let softmax_rest_2 = keep(softmax_rest - softmax_product_2);
    let softmax_product_3 = softmax_low * softmax_high_2;
    let softmax_rest_3 = keep(softmax_rest_2 - softmax_product_3);
    let softmax_product_4 = softmax_low * softmax_low_2;
    let softmax_rest_4 = keep(softmax_rest_3 - softmax_product_4);
    let softmax_lacking = softmax_rest_4 * softmax_inverse;
    let softmax_better = softmax_quotient + softmax_lacking;
    let softmax_bits_5 = bitcast<u32>(softmax_better);
    let softmax_magnitude_3 = softmax_bits_5 & 2147483647u;
    let softmax_signs = softmax_bits ^ softmax_bits_2;
    let softmax_sign = softmax_signs & 2147483648u;
    let softmax_signed = softmax_magnitude_3 | softmax_sign;
    let softmax_above = softmax_magnitude - 478150656u;
    let softmax_is = softmax_above >= 1090519040u;
    let softmax_is_2 = softmax_magnitude != 0u;
    let softmax_is_3 = softmax_is & softmax_is_2;
    let softmax_above_2 = softmax_magnitude_2 - 562036736u;
    let softmax_is_4 = softmax_above_2 >= 754974720u;
    let softmax_is_5 = softmax_is_3 | softmax_is_4;
    var softmax_found: u32;
    if softmax_is_5 {
        let softmax_bits_6 = bitcast<u32>(exp_v_2);
        let softmax_bits_7 = bitcast<u32>(total);
        let softmax_exponent = softmax_bits_7 & 2139095040u;
        let softmax_is_6 = softmax_exponent == 0u;
        let softmax_raised = total * 1.8446744e19f;
        let softmax_bits_8 = bitcast<u32>(softmax_raised);
        let softmax_either = select(softmax_bits_7, softmax_bits_8, softmax_is_6);
        let softmax_raised_2 = exp_v_2 * 1.8446744e19f;
        let softmax_bits_9 = bitcast<u32>(softmax_raised_2);
        let softmax_either_2 = select(softmax_bits_6, softmax_bits_9, softmax_is_6);
        let softmax_dividend = keep(bitcast<f32>(softmax_either_2));
        let softmax_exponent_2 = softmax_either_2 & 2139095040u;
        let softmax_is_7 = softmax_exponent_2 == 0u;
        let softmax_raised_3 = softmax_dividend * 1.8446744e19f;
        let softmax_bits_10 = bitcast<u32>(softmax_raised_3);
        let softmax_either_3 = select(softmax_either_2, softmax_bits_10, softmax_is_7);
        let softmax_exponent_3 = softmax_either_3 & 2139095040u;
        let softmax_fraction = softmax_either_3 & 8388607u;
        let softmax_exponent_4 = softmax_either & 2139095040u;
        let softmax_fraction_2 = softmax_either & 8388607u;
        let softmax_significand = softmax_fraction | 1065353216u;
        let softmax_significand_2 = bitcast<f32>(softmax_significand);
        let softmax_significand_3 = softmax_fraction_2 | 1065353216u;
        let softmax_significand_4 = bitcast<f32>(softmax_significand_3);
        let softmax_inverse_2 = keep(1.0f / keep_apart(softmax_significand_4));
        let softmax_quotient_2 = keep(softmax_significand_2 / keep_apart(softmax_significand_4));
        let softmax_bits_11 = bitcast<u32>(softmax_quotient_2);
        let softmax_cut_3 = softmax_bits_11 & 4294963200u;
        let softmax_high_3 = keep(bitcast<f32>(softmax_cut_3));
        let softmax_low_3 = keep(softmax_quotient_2 - keep_apart(softmax_high_3));
        let softmax_bits_12 = bitcast<u32>(softmax_significand_4);
        let softmax_cut_4 = softmax_bits_12 & 4294963200u;
        let softmax_high_4 = keep(bitcast<f32>(softmax_cut_4));
        let softmax_low_4 = keep(softmax_significand_4 - keep_apart(softmax_high_4));
        let softmax_product_5 = softmax_high_3 * softmax_high_4;
        let softmax_rest_5 = keep(softmax_significand_2 - softmax_product_5);
        let softmax_product_6 = softmax_high_3 * softmax_low_4;
        let softmax_rest_6 = keep(softmax_rest_5 - softmax_product_6);
        let softmax_product_7 = softmax_low_3 * softmax_high_4;
        let softmax_rest_7 = keep(softmax_rest_6 - softmax_product_7);
        let softmax_product_8 = softmax_low_3 * softmax_low_4;
        let softmax_rest_8 = keep(softmax_rest_7 - softmax_product_8);
        let softmax_lacking_2 = softmax_rest_8 * softmax_inverse_2;
        let softmax_better_2 = softmax_quotient_2 + softmax_lacking_2;
        let softmax_bits_13 = bitcast<u32>(softmax_better_2);
        let softmax_above_3 = softmax_bits_13 + 1073741824u;
        let softmax_above_4 = softmax_above_3 + softmax_exponent_3;
        let softmax_above_5 = softmax_above_4 - softmax_exponent_4;
        let softmax_higher = softmax_above_5 + 536870912u;
        let softmax_is_8 = softmax_above_5 < 1082130432u;
        let softmax_either_4 = select(1065353216u, 528482304u, softmax_is_8);
        let softmax_is_9 = softmax_above_5 < 1082130432u;
        let softmax_either_5 = select(softmax_above_5, softmax_higher, softmax_is_9);
        let softmax_either_6 = select(softmax_either_4, 528482304u, softmax_is_7);
        let softmax_either_7 = select(softmax_either_5, softmax_above_5, softmax_is_7);
        let softmax_factor = keep(bitcast<f32>(softmax_either_6));
        let softmax_magnitude_4 = softmax_either_7 - 1073741824u;
        let softmax_is_10 = softmax_either_7 < 1082130432u;
        let softmax_either_8 = select(softmax_magnitude_4, 0u, softmax_is_10);
        let softmax_is_11 = softmax_either_7 >= 3212836864u;
        let softmax_either_9 = select(softmax_either_8, 2139095040u, softmax_is_11);
        let softmax_number = keep(bitcast<f32>(softmax_either_9));
        let softmax_lowered = softmax_number * softmax_factor;
        let softmax_bits_14 = bitcast<u32>(softmax_lowered);
        let softmax_is_12 = softmax_exponent_3 == 0u;
        let softmax_either_10 = select(softmax_bits_14, 0u, softmax_is_12);
        let softmax_is_13 = softmax_magnitude_2 == 2139095040u;
        let softmax_either_11 = select(softmax_either_10, 0u, softmax_is_13);
        let softmax_is_14 = softmax_exponent_3 == 0u;
        let softmax_either_12 = select(2139095040u, 2143289344u, softmax_is_14);
        let softmax_is_15 = softmax_exponent_4 == 0u;
        let softmax_either_13 = select(softmax_either_11, softmax_either_12, softmax_is_15);
        let softmax_is_16 = softmax_magnitude_2 == 2139095040u;
        let softmax_either_14 = select(2139095040u, 2143289344u, softmax_is_16);
        let softmax_is_17 = softmax_magnitude == 2139095040u;
        let softmax_either_15 = select(softmax_either_13, softmax_either_14, softmax_is_17);
        let softmax_is_18 = softmax_magnitude > 2139095040u;
        let softmax_either_16 = select(softmax_either_15, 2143289344u, softmax_is_18);
        let softmax_is_19 = softmax_magnitude_2 > 2139095040u;
        let softmax_either_17 = select(softmax_either_16, 2143289344u, softmax_is_19);
        let softmax_signs_2 = softmax_bits_6 ^ softmax_bits_7;
        let softmax_sign_2 = softmax_signs_2 & 2147483648u;
        softmax_found = softmax_either_17 | softmax_sign_2;
    } else {
        softmax_found = softmax_signed;
    }
    return keep(bitcast<f32>(softmax_found));
}

fn exp_v(d0: u32, max_v: f32, x_3: f32) -> f32 {
    let shifted = x_3 - keep_apart(max_v);
    return keep(exp_f32(shifted));
}

fn x_2(d0: u32) -> f32 {
    return x[d0];
}

fn sum(a: f32, b: f32) -> f32 {
    return keep(a + b);
}

fn larger(a: f32, b: f32) -> f32 {
    return keep(max_f32(a, b));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    let at0 = lane & 31u;
    let at1 = lane >> 5u;
    let at2 = group.x * 8u + at1;
    let at3 = group.x * 1032u + lane + at1 * 97u;
    let at4 = group.x * 1032u + lane + at1 * 97u + 32u;
    let at5 = group.x * 1032u + lane + at1 * 97u + 64u;
    let at6 = group.x * 1032u + lane + at1 * 97u + 96u;
    let at7 = at0 + 128u;
    let at8 = group.x * 1032u + at1 * 129u + 128u;
    var chosen_3: f32;
    var chosen_4: f32;
    var chosen_5: f32;
    var chosen_6: f32;
    var chosen_7: f32;
    var chosen_8: f32;
    if at2 <= 16u {
        let x_3 = x_2(at3);
        let x_4 = x_2(at4);
        let larger_2 = max_f32(x_3, x_4);
        let x_5 = x_2(at5);
        let larger_3 = max_f32(larger_2, x_5);
        let x_6 = x_2(at6);
        let larger_4 = keep(max_f32(larger_3, x_6));
        var chosen: f32;
        var chosen_2: f32;
        if at7 == 128u {
            let x_7 = x_2(at8);
            let larger_5 = keep(max_f32(larger_4, x_7));
            chosen = larger_5;
            chosen_2 = x_7;
        } else {
            chosen = larger_4;
            chosen_2 = 0.0f;
        }
        chosen_3 = chosen;
        chosen_4 = x_3;
        chosen_5 = x_4;
        chosen_6 = x_5;
        chosen_7 = x_6;
        chosen_8 = chosen_2;
    } else {
        chosen_3 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
        chosen_4 = 0.0f;
        chosen_5 = 0.0f;
        chosen_6 = 0.0f;
        chosen_7 = 0.0f;
        chosen_8 = 0.0f;
    }
    shared_f32[lane] = chosen_3;
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
    let at9 = at1 * 32u;
    let max_v = shared_f32[at9];
    var chosen_11: f32;
    var chosen_12: f32;
    var chosen_13: f32;
    var chosen_14: f32;
    var chosen_15: f32;
    var chosen_16: f32;
    if at2 <= 16u {
        let exp_v_2 = exp_v(at3, max_v, chosen_4);
        let exp_v_3 = exp_v(at4, max_v, chosen_5);
        let sum_2 = keep(exp_v_2 + exp_v_3);
        let exp_v_4 = exp_v(at5, max_v, chosen_6);
        let sum_3 = keep(sum_2 + exp_v_4);
        let exp_v_5 = exp_v(at6, max_v, chosen_7);
        let sum_4 = keep(sum_3 + exp_v_5);
        var chosen_9: f32;
        var chosen_10: f32;
        if at7 == 128u {
            let exp_v_6 = exp_v(at8, max_v, chosen_8);
            let sum_5 = keep(sum_4 + exp_v_6);
            chosen_9 = sum_5;
            chosen_10 = exp_v_6;
        } else {
            chosen_9 = sum_4;
            chosen_10 = 0.0f;
        }
        chosen_11 = chosen_9;
        chosen_12 = exp_v_2;
        chosen_13 = exp_v_3;
        chosen_14 = exp_v_4;
        chosen_15 = exp_v_5;
        chosen_16 = chosen_10;
    } else {
        chosen_11 = bitcast<f32>(0x80000000u ^ zeros.zero_constant);
        chosen_12 = 0.0f;
        chosen_13 = 0.0f;
        chosen_14 = 0.0f;
        chosen_15 = 0.0f;
        chosen_16 = 0.0f;
    }
    workgroupBarrier();
    shared_f32[lane] = chosen_11;
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
    let sum_6 = keep(keep(0.0f) + shared_f32[at9]);
    var chosen_18: f32;
    var chosen_19: f32;
    var chosen_20: f32;
    var chosen_21: f32;
    var chosen_22: f32;
    if at2 <= 16u {
        let softmax_2 = softmax(at3, sum_6, chosen_12);
        softmax_out[at3] = softmax_2;
        let softmax_3 = softmax(at4, sum_6, chosen_13);
        softmax_out[at4] = softmax_3;
        let softmax_4 = softmax(at5, sum_6, chosen_14);
        softmax_out[at5] = softmax_4;
        let softmax_5 = softmax(at6, sum_6, chosen_15);
        softmax_out[at6] = softmax_5;
        var chosen_17: f32;
        if at7 == 128u {
            let softmax_6 = softmax(at8, sum_6, chosen_16);
            softmax_out[at8] = softmax_6;
            chosen_17 = softmax_6;
        } else {
            chosen_17 = 0.0f;
        }
        chosen_18 = softmax_2;
        chosen_19 = softmax_3;
        chosen_20 = softmax_4;
        chosen_21 = softmax_5;
        chosen_22 = chosen_17;
    } else {
        chosen_18 = 0.0f;
        chosen_19 = 0.0f;
        chosen_20 = 0.0f;
        chosen_21 = 0.0f;
        chosen_22 = 0.0f;
    }
}
