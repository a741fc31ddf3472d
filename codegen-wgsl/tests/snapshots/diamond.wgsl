// log_add_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[20,20]
@group(0) @binding(1) var<storage, read_write> add_out: array<f32>;  // f32[20,20]
var<workgroup> transpose_v_tile: array<f32, 1056>;  // f32[32,33]
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

fn add(d0: u32, d1: u32, transpose_v_2: f32) -> f32 {
    return log_v(d0, d1) + transpose_v_2;
}

fn transpose_v(d0: u32, d1: u32) -> f32 {
    return log_v(d1, d0);
}

fn log_v(d0: u32, d1: u32) -> f32 {
    return keep(log_f32(x[d0 * 20u + d1]));
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    let at0 = lane & 31u;
    let at1 = lane >> 5u;
    for (var s0 = 0u; s0 < 8u; s0++) {
        let at2 = s0 * 4u + at1;
        var element: f32;
        if (at0 <= 19u) & (at2 <= 19u) {
            element = transpose_v(at0, at2);
        } else {
            element = 0.0f;
        }
        transpose_v_tile[lane + s0 * 132u + at1] = element;
    }
    workgroupBarrier();
    for (var s0 = 0u; s0 < 8u; s0++) {
        let at3 = s0 * 4u + at1;
        if (at3 <= 19u) & (at0 <= 19u) {
            add_out[lane + s0 * 80u - at1 * 12u] = add(at3, at0, transpose_v_tile[lane * 33u + s0 * 4u - at1 * 1055u]);
        }
    }
}
