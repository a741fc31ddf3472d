// both_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[7,33]
@group(0) @binding(1) var<storage, read_write> both_1_out: array<i32>;  // s32[7]
var<workgroup> shared_f32: array<f32, 256>;  // f32[256]
var<workgroup> shared_s32: array<i32, 256>;  // s32[256]
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

fn both_1(d0: u32, both: f32, both_2: i32) -> i32 {
    return both_2;
}

struct Result_x_2 {
    r0: f32,
    r1: i32,
}

fn x_2(d0: u32) -> Result_x_2 {
    let positions = i32(d0 % 33u);
    let x_value = x[d0];
    return Result_x_2(x_value, positions);
}

struct Result_best {
    r0: f32,
    r1: i32,
}

fn best(a: f32, ia: i32, b: f32, ib: i32) -> Result_best {
    let gt = a > keep_apart(b);
    let is_nan = is_nan_f32(a);
    let first = gt | is_nan;
    let value = keep(select(b, keep_apart(a), first));
    let eq = a == keep_apart(b);
    let lt = ia < ib;
    let earlier = eq & lt;
    let keeps = first | earlier;
    let index = select(ib, ia, keeps);
    return Result_best(value, index);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    let at0 = lane >> 5u;
    let at1 = lane & 31u;
    var chosen_3: f32;
    var chosen_4: i32;
    if at0 <= 6u {
        var both_acc: f32 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
        var both_acc_2: i32 = 2147483647i;
        for (var s0 = 0u; s0 < 2u; s0++) {
            var chosen: f32;
            var chosen_2: i32;
            if s0 + at1 * 2u <= 32u {
                let x_3_all = x_2(lane * 2u + s0 - at0 * 31u);
                let x_3 = x_3_all.r0;
                let x_4 = x_3_all.r1;
                let gt = both_acc > keep_apart(x_3);
                let is_nan = is_nan_f32(both_acc);
                let first = gt | is_nan;
                let value = keep(select(x_3, keep_apart(both_acc), first));
                let eq = both_acc == keep_apart(x_3);
                let lt = both_acc_2 < x_4;
                let earlier = eq & lt;
                let keeps = first | earlier;
                let index = select(x_4, both_acc_2, keeps);
                chosen = value;
                chosen_2 = index;
            } else {
                chosen = both_acc;
                chosen_2 = both_acc_2;
            }
            both_acc = chosen;
            both_acc_2 = chosen_2;
        }
        chosen_3 = both_acc;
        chosen_4 = both_acc_2;
    } else {
        chosen_3 = bitcast<f32>(0xff800000u ^ zeros.zero_constant);
        chosen_4 = 2147483647i;
    }
    shared_f32[lane] = chosen_3;
    shared_s32[lane] = chosen_4;
    workgroupBarrier();
    if lane <= 127u {
        let at3 = lane * 2u;
        let both_9_all = best(shared_f32[at3], shared_s32[at3], shared_f32[at3 + 1u], shared_s32[at3 + 1u]);
        let both_9 = both_9_all.r0;
        let both_10 = both_9_all.r1;
        shared_f32[at3] = both_9;
        shared_s32[at3] = both_10;
    }
    workgroupBarrier();
    if lane <= 63u {
        let at4 = lane * 4u;
        let both_15_all = best(shared_f32[at4], shared_s32[at4], shared_f32[at4 + 2u], shared_s32[at4 + 2u]);
        let both_15 = both_15_all.r0;
        let both_16 = both_15_all.r1;
        shared_f32[at4] = both_15;
        shared_s32[at4] = both_16;
    }
    workgroupBarrier();
    if lane <= 31u {
        let at5 = lane * 8u;
        let both_21_all = best(shared_f32[at5], shared_s32[at5], shared_f32[at5 + 4u], shared_s32[at5 + 4u]);
        let both_21 = both_21_all.r0;
        let both_22 = both_21_all.r1;
        shared_f32[at5] = both_21;
        shared_s32[at5] = both_22;
    }
    workgroupBarrier();
    if lane <= 15u {
        let at6 = lane * 16u;
        let both_27_all = best(shared_f32[at6], shared_s32[at6], shared_f32[at6 + 8u], shared_s32[at6 + 8u]);
        let both_27 = both_27_all.r0;
        let both_28 = both_27_all.r1;
        shared_f32[at6] = both_27;
        shared_s32[at6] = both_28;
    }
    workgroupBarrier();
    if lane <= 7u {
        let at7 = lane * 32u;
        let both_33_all = best(shared_f32[at7], shared_s32[at7], shared_f32[at7 + 16u], shared_s32[at7 + 16u]);
        let both_33 = both_33_all.r0;
        let both_34 = both_33_all.r1;
        shared_f32[at7] = both_33;
        shared_s32[at7] = both_34;
    }
    workgroupBarrier();
    let at2 = at0 * 32u;
    let both_3 = shared_f32[at2];
    let both_4 = shared_s32[at2];
    let gt_2 = bitcast<f32>(0xff800000u ^ zeros.zero_constant) > both_3;
    let is_nan_2 = is_nan_f32(bitcast<f32>(0xff800000u ^ zeros.zero_constant));
    let first_2 = gt_2 | is_nan_2;
    let value_2 = keep(select(keep_apart(both_3), bitcast<f32>(0xff800000u ^ zeros.zero_constant), first_2));
    let eq_2 = bitcast<f32>(0xff800000u ^ zeros.zero_constant) == both_3;
    let lt_2 = 0i < both_4;
    let earlier_2 = eq_2 & lt_2;
    let keeps_2 = first_2 | earlier_2;
    let index_2 = select(both_4, 0i, keeps_2);
    if (at0 <= 6u) & (at1 == 0u) {
        both_1_out[at0] = both_1(at0, value_2, index_2);
    }
}
