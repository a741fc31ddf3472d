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
    let softmax_quotient = keep(exp_v_2 / keep_apart(total));
    let softmax_bits = bitcast<u32>(softmax_quotient);
    let softmax_cut = softmax_bits & 4294963200u;
    let softmax_high = keep(bitcast<f32>(bitcast<u32>(softmax_cut) ^ zeros.zero_constant));
    let softmax_low = keep(softmax_quotient - keep_apart(softmax_high));
    let softmax_bits_2 = bitcast<u32>(total);
    let softmax_cut_2 = softmax_bits_2 & 4294963200u;
    let softmax_high_2 = keep(bitcast<f32>(bitcast<u32>(softmax_cut_2) ^ zeros.zero_constant));
    let softmax_low_2 = keep(total - keep_apart(softmax_high_2));
    let softmax_product = softmax_high * softmax_high_2;
    let softmax_rest = keep(exp_v_2 - softmax_product);
    let softmax_product_2 = softmax_high * softmax_low_2;
    let softmax_rest_2 = keep(softmax_rest - softmax_product_2);
    let softmax_product_3 = softmax_low * softmax_high_2;
    let softmax_rest_3 = keep(softmax_rest_2 - softmax_product_3);
    let softmax_product_4 = softmax_low * softmax_low_2;
    let softmax_rest_4 = keep(softmax_rest_3 - softmax_product_4);
    let softmax_lacking = keep(softmax_rest_4 / keep_apart(total));
    let softmax_better = softmax_quotient + softmax_lacking;
    let softmax_bits_3 = bitcast<u32>(exp_v_2);
    let softmax_magnitude = softmax_bits_3 & 2147483647u;
    let softmax_above = softmax_magnitude - 310378496u;
    let softmax_within = softmax_above < 1820327936u;
    let softmax_chosen = select(softmax_quotient, softmax_better, softmax_within);
    let softmax_bits_4 = bitcast<u32>(total);
    let softmax_magnitude_2 = softmax_bits_4 & 2147483647u;
    let softmax_above_2 = softmax_magnitude_2 - 226492416u;
    let softmax_within_2 = softmax_above_2 < 1677721600u;
    let softmax_chosen_2 = select(softmax_quotient, softmax_chosen, softmax_within_2);
    let softmax_bits_5 = bitcast<u32>(softmax_quotient);
    let softmax_magnitude_3 = softmax_bits_5 & 2147483647u;
    let softmax_above_3 = softmax_magnitude_3 - 226492416u;
    let softmax_within_3 = softmax_above_3 < 1677721600u;
    return keep(select(softmax_quotient, softmax_chosen_2, softmax_within_3));
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
    zeros = Params(params.zero & lane, params.zero_apart & lane, params.zero_chosen & lane, params.zero_constant & lane);
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
    let at9 = lane + 16u;
    if at0 <= 15u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[at9]);
    }
    workgroupBarrier();
    let at10 = lane + 8u;
    if at0 <= 7u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[at10]);
    }
    workgroupBarrier();
    let at11 = lane + 4u;
    if at0 <= 3u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[at11]);
    }
    workgroupBarrier();
    let at12 = lane + 2u;
    if at0 <= 1u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[at12]);
    }
    workgroupBarrier();
    let at13 = lane + 1u;
    if at0 == 0u {
        shared_f32[lane] = larger(shared_f32[lane], shared_f32[at13]);
    }
    workgroupBarrier();
    let at14 = at1 * 32u;
    let max_v = shared_f32[at14];
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
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[at9]);
    }
    workgroupBarrier();
    if at0 <= 7u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[at10]);
    }
    workgroupBarrier();
    if at0 <= 3u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[at11]);
    }
    workgroupBarrier();
    if at0 <= 1u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[at12]);
    }
    workgroupBarrier();
    if at0 == 0u {
        shared_f32[lane] = sum(shared_f32[lane], shared_f32[at13]);
    }
    workgroupBarrier();
    let sum_6 = keep(keep(0.0f) + shared_f32[at14]);
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
