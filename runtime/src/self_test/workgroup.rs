//! Workgroup memory, barriers and loops.

use super::Answer;
use super::kernel::{Kernel, each, unwritten};
use crate::{Device, Error};

const INVOCATIONS: usize = 256;
const GROUPS: usize = 32;
const ROUNDS: usize = 9;

/// Exchanges words through workgroup memory, again and again, as the host does.
pub(super) async fn barrier(device: &Device) -> Result<Answer, Error> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> tile: array<u32, {INVOCATIONS}>;
@compute @workgroup_size({INVOCATIONS}) fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
    let at = group.x * {INVOCATIONS}u + lane;
    var value = input[at];
    for (var round = 0u; round < {ROUNDS}u; round++) {{
        tile[lane] = value;
        workgroupBarrier();
        value = tile[(lane * 5u + 7u * round + 1u) % {INVOCATIONS}u] * 3u + lane;
        workgroupBarrier();
    }}
    output[at] = value;
}}
"
    );
    let count = INVOCATIONS * GROUPS;
    let input: Vec<u32> = (0..count as u32).map(|at| at.wrapping_mul(2_654_435_761)).collect();
    let mut expected = input.clone();
    for group in expected.chunks_mut(INVOCATIONS) {
        for round in 0..ROUNDS {
            let tile = group.to_vec();
            for (lane, value) in group.iter_mut().enumerate() {
                let from = (lane * 5 + 7 * round + 1) % INVOCATIONS;
                *value = tile[from].wrapping_mul(3).wrapping_add(lane as u32);
            }
        }
    }
    let found = Kernel { text: &text, input, output: unwritten(count), groups: GROUPS as u32 }.run(device).await?;
    Ok(compared(&found, &expected))
}

/// Reads workgroup memory before it is written, after another kernel has left something there.
pub(super) async fn zeroed(device: &Device) -> Result<Answer, Error> {
    let text = |before: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> tile: array<u32, {INVOCATIONS}>;
@compute @workgroup_size({INVOCATIONS}) fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
    let at = group.x * {INVOCATIONS}u + lane;
    {before}
    workgroupBarrier();
    output[at] = tile[({INVOCATIONS}u - 1u) - lane];
}}
"
        )
    };
    let count = INVOCATIONS * GROUPS;
    let run = async |before: &str| {
        let text = text(before);
        Kernel { text: &text, input: vec![7; count], output: unwritten(count), groups: GROUPS as u32 }.run(device).await
    };
    run("tile[lane] = input[at];").await?;
    Ok(compared(&run("").await?, &vec![0; count]))
}

/// Makes loops of more rounds than some drivers do.
pub(super) async fn long_loops(device: &Device) -> Result<Answer, Error> {
    let rounds = [65_534u32, 65_536, 70_001, 140_000];
    let step = |state: u32| state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    let expected: Vec<u32> = rounds.iter().map(|rounds| (0..*rounds).fold(1, |state, _| step(state))).collect();
    let body = "var state = 1u;\nfor (var k = 0u; k < a; k++) { state = state * 1664525u + 1013904223u; }\noutput[at] = state;";
    let found = each(device, "", body, [1, 1], rounds.to_vec()).await?;
    let left = rounds.iter().zip(found.iter().zip(&expected)).find(|(_, (found, expected))| found != expected);
    Ok(match left {
        None => Answer::Holds(String::new()),
        Some((rounds, _)) => Answer::Fails(format!("a loop of {rounds} rounds is left before its end")),
    })
}

/// Whether all words are as expected, or how many are not.
pub(super) fn compared(found: &[u32], expected: &[u32]) -> Answer {
    let mut wrong = found.iter().zip(expected).enumerate().filter(|(_, (found, expected))| found != expected);
    match wrong.next() {
        None if found.len() == expected.len() => Answer::Holds(String::new()),
        None => Answer::Fails("there are fewer results than there should be".to_owned()),
        Some((at, (found, expected))) => {
            let count = 1 + wrong.count();
            let all = if count == 1 { String::new() } else { format!("{count} words are wrong, ") };
            Answer::Fails(format!("{all}word {at} is {found} instead of {expected}"))
        }
    }
}
