// doubled_padded_fusion

@group(0) @binding(0) var<storage, read> x: array<f32>;  // f32[4,6]
@group(0) @binding(1) var<storage, read> value: array<f32>;  // f32[]
@group(0) @binding(2) var<storage, read_write> padded_out: array<f32>;  // f32[12,5]
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

fn padded(d0: u32) -> f32 {
    let value_value = value[0u];
    let at0 = d0 / 5u;
    let at1 = d0 % 5u;
    var padded_2: f32;
    if (at0 >= 1u) & (at0 <= 10u) & (at1 >= 1u) & ((at0 + 2u) % 3u == 0u) {
        let x_value = x[at1 + d0 / 15u * 6u - 1u];
        padded_2 = keep(x_value + x_value);
    } else {
        padded_2 = value_value;
    }
    return padded_2;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    zeros = Params((lane * 0x9e3779b1u) & params.zero, (lane * 0x9e3779b1u) & params.zero_apart, (lane * 0x9e3779b1u) & params.zero_chosen, (lane * 0x9e3779b1u) & params.zero_constant);
    if lane <= 59u {
        padded_out[lane] = padded(lane);
    }
}
