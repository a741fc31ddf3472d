//! Atomic operations.

use super::Answer;
use super::kernel::Kernel;
use super::workgroup::compared;
use crate::{Device, Error};

const INVOCATIONS: u32 = 64;
const GROUPS: u32 = 64;
const ALL: u32 = INVOCATIONS * GROUPS;

/// Adds, finds extremes and mixes bits in a buffer, and adds in workgroup memory; each value that an addition found before is found once.
pub(super) async fn additions(device: &Device) -> Result<Answer, Error> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<atomic<u32>>;
var<workgroup> sum: atomic<u32>;
@compute @workgroup_size({INVOCATIONS}) fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
    let value = input[group.x * {INVOCATIONS}u + lane];
    atomicAdd(&output[0], value);
    atomicMax(&output[1], value);
    atomicMin(&output[2], value);
    atomicXor(&output[3], value * 2654435761u);
    atomicOr(&output[4], 1u << (value % 32u));
    let before = atomicAdd(&output[5], 1u);
    atomicAdd(&output[8u + before % {ALL}u], 1u);
    atomicAdd(&sum, value);
    workgroupBarrier();
    if lane == 0u {{ atomicAdd(&output[6], atomicLoad(&sum)); }}
}}
"
    );
    let input: Vec<u32> = (0..ALL).map(|at| 3 * at + 1).collect();
    let sum = input.iter().sum();
    let mixed = input.iter().fold(0, |mixed, value| mixed ^ value.wrapping_mul(2_654_435_761));
    let mut output = vec![0; 8 + ALL as usize];
    output[2] = u32::MAX;
    let mut expected = vec![1; 8 + ALL as usize];
    expected[..8].copy_from_slice(&[sum, 3 * (ALL - 1) + 1, 1, mixed, u32::MAX, ALL, sum, 0]);
    let found = Kernel { text: &text, input, output, groups: GROUPS }.run(device).await?;
    Ok(compared(&found, &expected))
}

/// Adds by exchanging what was read for the sum, until nobody came between.
pub(super) async fn exchanges(device: &Device) -> Result<Answer, Error> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<atomic<u32>>;
@compute @workgroup_size({INVOCATIONS}) fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
    let value = input[group.x * {INVOCATIONS}u + lane];
    let at = lane % 4u;
    var before = atomicLoad(&output[at]);
    for (var round = 0u; round < 60000u; round++) {{
        let tried = atomicCompareExchangeWeak(&output[at], before, before + value);
        if tried.exchanged {{ break; }}
        before = tried.old_value;
    }}
    let first = atomicCompareExchangeWeak(&output[4], 0u, value);
    if first.exchanged {{ atomicAdd(&output[5], 1u); }}
}}
"
    );
    let input: Vec<u32> = (0..ALL).map(|at| 5 * at + 1).collect();
    let mut expected = [0; 4];
    for (at, value) in input.iter().enumerate() {
        expected[at % INVOCATIONS as usize % 4] += value;
    }
    let found = Kernel { text: &text, input, output: vec![0; 6], groups: GROUPS }.run(device).await?;
    let (sums, rest) = found.split_at_checked(4).unwrap_or((&found, &[]));
    // A weak exchange may fail for no reason, but never do so twice.
    if rest.get(1).is_some_and(|winners| *winners > 1) {
        return Ok(Answer::Fails("several invocations exchanged the same word first".to_owned()));
    }
    Ok(compared(sums, &expected))
}

/// Adds to words of 64 bits, with carries.
pub(super) async fn additions_i64(device: &Device) -> Result<Answer, Error> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<atomic<u64>>;
@compute @workgroup_size({INVOCATIONS}) fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
    let value = u64(input[group.x * {INVOCATIONS}u + lane]);
    atomicAdd(&output[0], value * 65539lu);
    atomicMax(&output[1], value << 20u);
}}
"
    );
    let input: Vec<u32> = (0..ALL).map(|at| at.wrapping_mul(2_654_435_761)).collect();
    let sum = input.iter().fold(0u64, |sum, value| sum.wrapping_add(u64::from(*value) * 65_539));
    let most = input.iter().map(|value| u64::from(*value) << 20).max().unwrap_or(0);
    let expected: Vec<u32> = [sum, most].into_iter().flat_map(|word| [word as u32, (word >> 32) as u32]).collect();
    let found = Kernel { text: &text, input, output: vec![0; 4], groups: GROUPS }.run(device).await?;
    Ok(compared(&found, &expected))
}

/// Adds whole numbers that floats hold exactly, in whatever order.
pub(super) async fn additions_f32(device: &Device) -> Result<Answer, Error> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<atomic<f32>>;
@compute @workgroup_size({INVOCATIONS}) fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
    atomicAdd(&output[lane % 4u], f32(input[group.x * {INVOCATIONS}u + lane]));
}}
"
    );
    let input: Vec<u32> = (0..ALL).map(|at| at % 1009).collect();
    let mut sums = [0u32; 4];
    for (at, value) in input.iter().enumerate() {
        sums[at % INVOCATIONS as usize % 4] += value;
    }
    let expected = sums.map(|sum| (sum as f32).to_bits());
    let found = Kernel { text: &text, input, output: vec![0; 4], groups: GROUPS }.run(device).await?;
    Ok(compared(&found, &expected))
}
