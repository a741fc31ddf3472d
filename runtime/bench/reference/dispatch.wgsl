// The least that a dispatch does for a program: one workgroup reads what the one before wrote.
@group(0) @binding(0) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  x[id.x] = x[id.x] + 1.0;
}
