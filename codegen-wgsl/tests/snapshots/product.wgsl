// d_fusion

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;  // f32[6,8]
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;  // f32[8,12]
@group(0) @binding(2) var<storage, read_write> d_out: array<vec4<f32>>;  // f32[6,12]
var<workgroup> lhs_tile: array<f32, 96>;  // f32[8,12]
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

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    if lane <= 15u {
        let at3 = lane >> 1u;
        var element: vec4<f32>;
        if at3 <= 5u {
            element = a_2_x4(lane);
        } else {
            element = vec4<f32>(0.0f);
        }
        let element_2 = keep_chosen_x4(element).x;
        let at4 = lane * 48u - at3 * 95u;
        lhs_tile[at4] = element_2;
        let element_3 = keep_chosen_x4(element).y;
        lhs_tile[at4 + 12u] = element_3;
        let element_4 = keep_chosen_x4(element).z;
        lhs_tile[at4 + 24u] = element_4;
        let element_5 = keep_chosen_x4(element).w;
        lhs_tile[at4 + 36u] = element_5;
    }
    let at0 = lane & 3u;
    let at1 = lane >> 2u;
    var element_6: vec4<f32>;
    if at0 <= 2u {
        element_6 = b_2_x4(0u, at1, at0);
    } else {
        element_6 = vec4<f32>(0.0f);
    }
    let element_7 = keep_chosen_x4(element_6).x;
    let at2 = lane * 4u;
    rhs_tile[at2] = element_7;
    let element_8 = keep_chosen_x4(element_6).y;
    rhs_tile[at2 + 1u] = element_8;
    let element_9 = keep_chosen_x4(element_6).z;
    rhs_tile[at2 + 2u] = element_9;
    let element_10 = keep_chosen_x4(element_6).w;
    rhs_tile[at2 + 3u] = element_10;
    workgroupBarrier();
    var acc: vec4<f32> = keep_x4(vec4<f32>(0.0f));
    for (var s0 = 0u; s0 < 8u; s0++) {
        let at5 = s0 * 16u + at0 * 4u;
        let rhs_6 = vec4<f32>(rhs_tile[at5], rhs_tile[at5 + 1u], rhs_tile[at5 + 2u], rhs_tile[at5 + 3u]);
        let lhs_3 = vec4<f32>(lhs_tile[s0 * 12u + at1]);
        acc = fma(lhs_3, rhs_6, acc);
    }
    if at1 <= 5u {
        if at0 <= 2u {
            d_out[(lane * 3u + at0) >> 2u] = acc;
        }
    }
}
