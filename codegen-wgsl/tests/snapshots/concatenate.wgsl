// negated_joined_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[4,3]
@group(0) @binding(1) var<storage, read> y: array<f32>;  // f32[4,5]
@group(0) @binding(2) var<storage, read_write> joined_out: array<f32>;  // f32[4,10]
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

fn joined(d0: u32) -> f32 {
    let at0 = d0 % 10u;
    let at1 = d0 / 10u;
    var joined_3: f32;
    if at0 <= 2u {
        joined_3 = x[d0 - at1 * 7u];
    } else {
        var joined_2: f32;
        if at0 <= 4u {
            joined_2 = 1.0f;
        } else {
            joined_2 = keep(-y[d0 - 5u - at1 * 5u]);
        }
        joined_3 = joined_2;
    }
    return joined_3;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    if lane <= 39u {
        joined_out[lane] = joined(lane);
    }
}
