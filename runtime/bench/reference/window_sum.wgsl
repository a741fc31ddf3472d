@group(0) @binding(0) var<storage,read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage,read_write> y: array<vec4<f32>>;
@compute @workgroup_size(256) fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let q = group.x * 256u + lane;
    if q >= 1048574u { return; }
    let a = x[q]; let b = x[q + 1u]; let c = x[q + 2u];
    y[q] = (((a + vec4<f32>(a.yzw, b.x)) + (vec4<f32>(a.zw, b.xy) + vec4<f32>(a.w, b.xyz))) + ((b + vec4<f32>(b.yzw, c.x)) + (vec4<f32>(b.zw, c.xy) + vec4<f32>(b.w, c.xyz)))) + c;
}
