// d_s_fusion

enable wgpu_cooperative_matrix;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;  // f32[64,48]
@group(0) @binding(1) var<storage, read> y: array<vec4<f32>>;  // f32[64,48]
@group(0) @binding(2) var<storage, read> z: array<vec4<f32>>;  // f32[64,64]
@group(0) @binding(3) var<storage, read_write> s_out: array<vec4<f32>>;  // f32[64,64]
var<workgroup> lhs_tile: array<f32, 640>;  // f32[32,20]
var<workgroup> rhs_tile: array<f32, 640>;  // f32[32,20]
var<workgroup> sum_tile: array<f32, 640>;  // f32[32,20]
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

fn s_x4(d0: u32, d1: u32, d: vec4<f32>) -> vec4<f32> {
    return d + z[d0 * 16u + d1];
}

fn x_2_x4(d0: u32, d1: u32, d2: u32) -> vec4<f32> {
    return x[d1 * 12u + d2];
}

fn y_2_x4(d0: u32, d1: u32, d2: u32) -> vec4<f32> {
    return y[d1 + d2 * 12u];
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var lhs_0: coop_mat8x8<f32, A>;
    var lhs_1: coop_mat8x8<f32, A>;
    var rhs_0: coop_mat8x8<f32, B>;
    var rhs_1: coop_mat8x8<f32, B>;
    var sum_0_0: coop_mat8x8<f32, C>;
    var sum_0_1: coop_mat8x8<f32, C>;
    var sum_1_0: coop_mat8x8<f32, C>;
    var sum_1_1: coop_mat8x8<f32, C>;
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    sum_0_0 = coop_mat8x8<f32, C>();
    sum_0_1 = coop_mat8x8<f32, C>();
    sum_1_0 = coop_mat8x8<f32, C>();
    sum_1_1 = coop_mat8x8<f32, C>();
    let at0 = lane & 3u;
    let at1 = lane >> 2u;
    let at2 = group.y * 32u + at1;
    let at3 = group.x * 32u + at1;
    let at4 = lane >> 6u;
    let at5 = lane >> 5u;
    let at6 = lane * 4u + at1 * 4u;
    let at7 = at5 & 1u;
    var acc: vec4<f32> = x_2_x4(0u, at2, at0);
    var acc_2: vec4<f32> = y_2_x4(0u, at0, at3);
    for (var s0 = 0u; s0 < 3u; s0++) {
        let acc_3 = acc.x;
        lhs_tile[at6] = acc_3;
        let acc_4 = acc.y;
        lhs_tile[at6 + 1u] = acc_4;
        let acc_5 = acc.z;
        lhs_tile[at6 + 2u] = acc_5;
        let acc_6 = acc.w;
        lhs_tile[at6 + 3u] = acc_6;
        let acc_7 = acc_2.x;
        rhs_tile[at6] = acc_7;
        let acc_8 = acc_2.y;
        rhs_tile[at6 + 1u] = acc_8;
        let acc_9 = acc_2.z;
        rhs_tile[at6 + 2u] = acc_9;
        let acc_10 = acc_2.w;
        rhs_tile[at6 + 3u] = acc_10;
        workgroupBarrier();
        let at11 = s0 * 4u + at0;
        let at12 = s0 * 4u + at0 + 4u;
        var element: vec4<f32>;
        if at11 <= 7u {
            element = x_2_x4(0u, at2, at12);
        } else {
            element = vec4<f32>(0.0f);
        }
        var element_2: vec4<f32>;
        if at11 <= 7u {
            element_2 = y_2_x4(0u, at12, at3);
        } else {
            element_2 = vec4<f32>(0.0f);
        }
        for (var s1 = 0u; s1 < 2u; s1++) {
            let at13 = s1 * 8u + at4 * 320u;
            lhs_0 = coopLoadT<coop_mat8x8<f32, A>>(&lhs_tile[at13], 20u);
            lhs_1 = coopLoadT<coop_mat8x8<f32, A>>(&lhs_tile[at13 + 160u], 20u);
            let at14 = s1 * 8u + at7 * 320u;
            rhs_0 = coopLoad<coop_mat8x8<f32, B>>(&rhs_tile[at14], 20u);
            rhs_1 = coopLoad<coop_mat8x8<f32, B>>(&rhs_tile[at14 + 160u], 20u);
            sum_0_0 = coopMultiplyAdd(lhs_0, rhs_0, sum_0_0);
            sum_0_1 = coopMultiplyAdd(lhs_0, rhs_1, sum_0_1);
            sum_1_0 = coopMultiplyAdd(lhs_1, rhs_0, sum_1_0);
            sum_1_1 = coopMultiplyAdd(lhs_1, rhs_1, sum_1_1);
        }
        workgroupBarrier();
        acc = element;
        acc_2 = element_2;
    }
    let at8 = at5 * 160u;
    let at9 = at1 & 7u;
    let at10 = group.x * 8u + at0 + at7 * 4u;
    for (var s0 = 0u; s0 < 2u; s0++) {
        if s0 == 0u {
            coopStoreT(sum_0_0, &sum_tile[at8], 20u);
            coopStoreT(sum_0_1, &sum_tile[at8 + 8u], 20u);
        }
        if s0 == 1u {
            coopStoreT(sum_1_0, &sum_tile[at8], 20u);
            coopStoreT(sum_1_1, &sum_tile[at8 + 8u], 20u);
        }
        workgroupBarrier();
        let sum_7 = vec4<f32>(sum_tile[at6], sum_tile[at6 + 1u], sum_tile[at6 + 2u], sum_tile[at6 + 3u]);
        s_out[group.x * 8u + group.y * 512u + s0 * 128u + at0 + at4 * 256u + at7 * 4u + at9 * 16u] = s_x4(group.y * 32u + s0 * 8u + at4 * 16u + at9, at10, sum_7);
        workgroupBarrier();
    }
}
