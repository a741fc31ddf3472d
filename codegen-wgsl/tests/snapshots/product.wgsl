// d_fusion

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;  // f32[6,8]
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;  // f32[8,12]
@group(0) @binding(2) var<storage, read_write> d_out: array<vec4<f32>>;  // f32[6,12]
var<workgroup> lhs_tile: array<f32, 64>;  // f32[8,8]
var<workgroup> rhs_tile: array<f32, 128>;  // f32[8,16]
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

fn a_2_x4(d0: u32) -> vec4<f32> {
    return a[d0];
}

fn b_2_x4(d0: u32, d1: u32, d2: u32) -> vec4<f32> {
    return b[d1 * 3u + d2];
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params(params.zero & (lane * 0x9e3779b1u), params.zero_apart & (lane * 0x9e3779b1u), params.zero_chosen & (lane * 0x9e3779b1u), params.zero_constant & (lane * 0x9e3779b1u));
    let at0 = lane >> 1u;
    for (var s0 = 0u; s0 < 2u; s0++) {
        var element: vec4<f32>;
        if s0 * 4u + at0 <= 5u {
            element = a_2_x4(lane + s0 * 8u);
        } else {
            element = vec4<f32>(0.0f);
        }
        let element_2 = keep_chosen_x4(element).x;
        let at3 = lane * 32u + s0 * 4u - at0 * 63u;
        lhs_tile[at3] = element_2;
        let element_3 = keep_chosen_x4(element).y;
        lhs_tile[at3 + 8u] = element_3;
        let element_4 = keep_chosen_x4(element).z;
        lhs_tile[at3 + 16u] = element_4;
        let element_5 = keep_chosen_x4(element).w;
        lhs_tile[at3 + 24u] = element_5;
    }
    let at1 = lane & 3u;
    let at2 = lane >> 2u;
    for (var s0 = 0u; s0 < 4u; s0++) {
        var element_6: vec4<f32>;
        if at1 <= 2u {
            element_6 = b_2_x4(0u, s0 * 2u + at2, at1);
        } else {
            element_6 = vec4<f32>(0.0f);
        }
        let element_7 = keep_chosen_x4(element_6).x;
        let at4 = lane * 4u + s0 * 32u;
        rhs_tile[at4] = element_7;
        let element_8 = keep_chosen_x4(element_6).y;
        rhs_tile[at4 + 1u] = element_8;
        let element_9 = keep_chosen_x4(element_6).z;
        rhs_tile[at4 + 2u] = element_9;
        let element_10 = keep_chosen_x4(element_6).w;
        rhs_tile[at4 + 3u] = element_10;
    }
    workgroupBarrier();
    var acc: vec4<f32> = keep_x4(vec4<f32>(0.0f));
    var acc_2: vec4<f32> = keep_x4(vec4<f32>(0.0f));
    var acc_3: vec4<f32> = keep_x4(vec4<f32>(0.0f));
    var acc_4: vec4<f32> = keep_x4(vec4<f32>(0.0f));
    for (var s0 = 0u; s0 < 8u; s0++) {
        let at5 = s0 * 16u + at1 * 4u;
        let rhs_6 = vec4<f32>(rhs_tile[at5], rhs_tile[at5 + 1u], rhs_tile[at5 + 2u], rhs_tile[at5 + 3u]);
        let at6 = s0 * 8u + at2 * 4u;
        let lhs_6 = vec4<f32>(lhs_tile[at6]);
        let sum = fma(lhs_6, rhs_6, acc);
        let lhs_7 = vec4<f32>(lhs_tile[at6 + 1u]);
        let sum_2 = fma(lhs_7, rhs_6, acc_2);
        let lhs_8 = vec4<f32>(lhs_tile[at6 + 2u]);
        let sum_3 = fma(lhs_8, rhs_6, acc_3);
        let lhs_9 = vec4<f32>(lhs_tile[at6 + 3u]);
        let sum_4 = fma(lhs_9, rhs_6, acc_4);
        acc = sum;
        acc_2 = sum_2;
        acc_3 = sum_3;
        acc_4 = sum_4;
    }
    if at2 == 0u {
        if lane <= 2u {
            d_out[lane] = acc;
            d_out[lane + 3u] = acc_2;
            d_out[lane + 6u] = acc_3;
            d_out[lane + 9u] = acc_4;
        }
    }
    if at2 == 1u {
        if lane - 4u <= 2u {
            d_out[lane + 8u] = acc;
            d_out[lane + 11u] = acc_2;
        }
    }
}
