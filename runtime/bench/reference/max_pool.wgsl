@group(0) @binding(0) var<storage,read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage,read_write> y: array<vec4<f32>>;
@compute @workgroup_size(256) fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let q = group.x * 256u + lane;
    let c = q % 16u; let w = q / 16u % 56u; let h = q / 896u % 56u; let n = q / 50176u;
    let at = n * 200704u + h * 3584u + w * 32u + c;
    let right = w < 55u;
    var m = max(x[at], x[at + 16u]);
    if right { m = max(m, x[at + 32u]); }
    m = max(m, max(x[at + 1792u], x[at + 1808u]));
    if right { m = max(m, x[at + 1824u]); }
    if h < 55u {
        m = max(m, max(x[at + 3584u], x[at + 3600u]));
        if right { m = max(m, x[at + 3616u]); }
    }
    y[q] = m;
}
