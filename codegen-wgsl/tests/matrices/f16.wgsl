// d_s_fusion

enable f16;
enable wgpu_int16;
enable wgpu_cooperative_matrix;

@group(0) @binding(0) var<storage, read> x: array<vec2<u32>>;  // f16[64,48]
@group(0) @binding(1) var<storage, read> y: array<vec2<u32>>;  // f16[64,48]
@group(0) @binding(2) var<storage, read> z: array<vec2<u32>>;  // f16[64,64]
@group(0) @binding(3) var<storage, read_write> s_out: array<vec2<u32>>;  // f16[64,64]
var<workgroup> lhs_tile: array<f16, 1280>;  // f16[32,40]
var<workgroup> rhs_tile: array<f16, 1280>;  // f16[32,40]
var<workgroup> sum_tile: array<f32, 1280>;  // f32[64,20]
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

fn s_x4(d0: u32, d1: u32, d: vec4<u32>) -> vec4<u32> {
    let z_value_2 = z[d0 * 16u + d1];
    let z_value_3 = z_value_2.x;
    let z_value_4 = z_value_2.y;
    let z_value_5 = z_value_3 & 65535u;
    let z_value_6 = z_value_3 >> 16u;
    let z_value_7 = z_value_4 & 65535u;
    let z_value_8 = z_value_4 >> 16u;
    let z_value = vec4<u32>(z_value_5, z_value_6, z_value_7, z_value_8);
    let s = decode_small_float_x4(d, vec4<u32>(10u), vec4<u32>(15u), vec4<u32>(32768u), vec4<u32>(31744u), vec4<u32>(31745u), vec4<u32>(4294967295u));
    let s_2 = decode_small_float_x4(z_value, vec4<u32>(10u), vec4<u32>(15u), vec4<u32>(32768u), vec4<u32>(31744u), vec4<u32>(31745u), vec4<u32>(4294967295u));
    let s_3 = s + s_2;
    return encode_small_float_x4(s_3, vec4<u32>(10u), vec4<u32>(15u), vec4<u32>(32768u), vec4<u32>(32768u), vec4<u32>(31743u), vec4<u32>(31744u), vec4<u32>(32256u));
}

fn x_2_x4(d0: u32, d1: u32, d2: u32) -> vec4<u32> {
    let x_value_2 = x[d1 * 12u + d2];
    let x_value_3 = x_value_2.x;
    let x_value_4 = x_value_2.y;
    let x_value_5 = x_value_3 & 65535u;
    let x_value_6 = x_value_3 >> 16u;
    let x_value_7 = x_value_4 & 65535u;
    let x_value_8 = x_value_4 >> 16u;
    return vec4<u32>(x_value_5, x_value_6, x_value_7, x_value_8);
}

fn y_2_x4(d0: u32, d1: u32, d2: u32) -> vec4<u32> {
    let y_value_2 = y[d1 + d2 * 12u];
    let y_value_3 = y_value_2.x;
    let y_value_4 = y_value_2.y;
    let y_value_5 = y_value_3 & 65535u;
    let y_value_6 = y_value_3 >> 16u;
    let y_value_7 = y_value_4 & 65535u;
    let y_value_8 = y_value_4 >> 16u;
    return vec4<u32>(y_value_5, y_value_6, y_value_7, y_value_8);
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var lhs_0: coop_mat16x16<f16, A>;
    var rhs_0: coop_mat16x16<f16, B>;
    var sum_0_0: coop_mat16x16<f32, C>;
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    sum_0_0 = coop_mat16x16<f32, C>();
    let at0 = lane & 7u;
    let at1 = lane >> 3u;
    let at2 = group.y * 32u + at1;
    let at3 = group.y * 32u + at1 + 16u;
    let at4 = group.x * 32u + at1;
    let at5 = group.x * 32u + at1 + 16u;
    let at6 = lane >> 6u;
    let at7 = lane >> 5u;
    let at8 = lane * 4u + at1 * 8u;
    let at9 = at0 + 8u;
    let at10 = at7 & 1u;
    var acc: vec4<u32> = x_2_x4(0u, at2, at0);
    var acc_2: vec4<u32> = x_2_x4(0u, at3, at0);
    var acc_3: vec4<u32> = y_2_x4(0u, at0, at4);
    var acc_4: vec4<u32> = y_2_x4(0u, at0, at5);
    for (var s0 = 0u; s0 < 2u; s0++) {
        let acc_5 = acc.x;
        lhs_tile[at8] = bitcast<f16>(u16(acc_5));
        let acc_6 = acc.y;
        lhs_tile[at8 + 1u] = bitcast<f16>(u16(acc_6));
        let acc_7 = acc.z;
        lhs_tile[at8 + 2u] = bitcast<f16>(u16(acc_7));
        let acc_8 = acc.w;
        lhs_tile[at8 + 3u] = bitcast<f16>(u16(acc_8));
        let acc_9 = acc_2.x;
        lhs_tile[at8 + 640u] = bitcast<f16>(u16(acc_9));
        let acc_10 = acc_2.y;
        lhs_tile[at8 + 641u] = bitcast<f16>(u16(acc_10));
        let acc_11 = acc_2.z;
        lhs_tile[at8 + 642u] = bitcast<f16>(u16(acc_11));
        let acc_12 = acc_2.w;
        lhs_tile[at8 + 643u] = bitcast<f16>(u16(acc_12));
        let acc_13 = acc_3.x;
        rhs_tile[at8] = bitcast<f16>(u16(acc_13));
        let acc_14 = acc_3.y;
        rhs_tile[at8 + 1u] = bitcast<f16>(u16(acc_14));
        let acc_15 = acc_3.z;
        rhs_tile[at8 + 2u] = bitcast<f16>(u16(acc_15));
        let acc_16 = acc_3.w;
        rhs_tile[at8 + 3u] = bitcast<f16>(u16(acc_16));
        let acc_17 = acc_4.x;
        rhs_tile[at8 + 640u] = bitcast<f16>(u16(acc_17));
        let acc_18 = acc_4.y;
        rhs_tile[at8 + 641u] = bitcast<f16>(u16(acc_18));
        let acc_19 = acc_4.z;
        rhs_tile[at8 + 642u] = bitcast<f16>(u16(acc_19));
        let acc_20 = acc_4.w;
        rhs_tile[at8 + 643u] = bitcast<f16>(u16(acc_20));
        workgroupBarrier();
        let at16 = s0 * 8u + at0;
        var element: vec4<u32>;
        if at16 <= 3u {
            element = x_2_x4(0u, at2, at9);
        } else {
            element = vec4<u32>(0u);
        }
        var element_2: vec4<u32>;
        if at16 <= 3u {
            element_2 = x_2_x4(0u, at3, at9);
        } else {
            element_2 = vec4<u32>(0u);
        }
        var element_3: vec4<u32>;
        if at16 <= 3u {
            element_3 = y_2_x4(0u, at9, at4);
        } else {
            element_3 = vec4<u32>(0u);
        }
        var element_4: vec4<u32>;
        if at16 <= 3u {
            element_4 = y_2_x4(0u, at9, at5);
        } else {
            element_4 = vec4<u32>(0u);
        }
        for (var s1 = 0u; s1 < 2u; s1++) {
            lhs_0 = coopLoadT<coop_mat16x16<f16, A>>(&lhs_tile[s1 * 16u + at6 * 640u], 40u);
            rhs_0 = coopLoad<coop_mat16x16<f16, B>>(&rhs_tile[s1 * 16u + at10 * 640u], 40u);
            sum_0_0 = coopMultiplyAdd(lhs_0, rhs_0, sum_0_0);
        }
        workgroupBarrier();
        acc = element;
        acc_2 = element_2;
        acc_3 = element_3;
        acc_4 = element_4;
    }
    coopStoreT(sum_0_0, &sum_tile[at7 * 320u], 20u);
    workgroupBarrier();
    let at11 = lane >> 2u;
    let at12 = lane * 4u + at7 * 160u + at11 * 4u;
    let sum_15 = vec4<f32>(sum_tile[at12], sum_tile[at12 + 1u], sum_tile[at12 + 2u], sum_tile[at12 + 3u]);
    let sum_16 = encode_small_float_x4(sum_15, vec4<u32>(10u), vec4<u32>(15u), vec4<u32>(32768u), vec4<u32>(32768u), vec4<u32>(31743u), vec4<u32>(31744u), vec4<u32>(32256u));
    let at13 = lane & 3u;
    let at14 = at11 & 7u;
    let at15 = group.x * 8u + at10 * 4u + at13;
    let output_2 = s_x4(group.y * 32u + at6 * 16u + at14, at15, sum_16);
    let bits_10 = output_2.x;
    let bits_11 = output_2.y;
    let bits_12 = output_2.z;
    let bits_13 = output_2.w;
    let bits_14 = bits_11 << 16u;
    let bits_15 = bits_10 | bits_14;
    let bits_16 = bits_13 << 16u;
    let bits_17 = bits_12 | bits_16;
    let bits_18 = vec2<u32>(bits_15, bits_17);
    s_out[group.x * 8u + group.y * 512u + at6 * 256u + at10 * 4u + at13 + at14 * 16u] = bits_18;
    let sum_21 = vec4<f32>(sum_tile[at12 + 160u], sum_tile[at12 + 161u], sum_tile[at12 + 162u], sum_tile[at12 + 163u]);
    let sum_22 = encode_small_float_x4(sum_21, vec4<u32>(10u), vec4<u32>(15u), vec4<u32>(32768u), vec4<u32>(32768u), vec4<u32>(31743u), vec4<u32>(31744u), vec4<u32>(32256u));
    let output_3 = s_x4(group.y * 32u + at6 * 16u + at14 + 8u, at15, sum_22);
    let bits_19 = output_3.x;
    let bits_20 = output_3.y;
    let bits_21 = output_3.z;
    let bits_22 = output_3.w;
    let bits_23 = bits_20 << 16u;
    let bits_24 = bits_19 | bits_23;
    let bits_25 = bits_22 << 16u;
    let bits_26 = bits_21 | bits_25;
    let bits_27 = vec2<u32>(bits_24, bits_26);
    s_out[group.x * 8u + group.y * 512u + at6 * 256u + at10 * 4u + at13 + at14 * 16u + 128u] = bits_27;
    workgroupBarrier();
}
