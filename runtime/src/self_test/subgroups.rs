//! Subgroups.

use super::Answer;
use super::kernel::{Kernel, unwritten};
use crate::{Device, Error};
use std::collections::{BTreeMap, BTreeSet};

const INVOCATIONS: u32 = 64;
const GROUPS: u32 = 8;

/// What an invocation knows of its subgroup, and what its subgroup computes.
#[derive(Copy, Clone)]
struct Lane {
    /// Size of the subgroup, as it is told.
    size: u32,
    /// Number of the lane, as it is told.
    number: u32,
    /// The workgroup and the local index of the first lane, which tells one subgroup from another.
    subgroup: (u32, u32),
    /// Local index of the invocation.
    local: u32,
    sum: u32,
    most: u32,
    before: u32,
    ballot: u32,
    /// The value of the lane whose number differs in the lowest bit.
    neighbor: u32,
    odd_sum: u32,
}

fn value(group: u32, local: u32) -> u32 {
    (group * INVOCATIONS + local).wrapping_mul(2_654_435_761) >> 8
}

async fn all(device: &Device) -> Result<Vec<Lane>, Error> {
    const WORDS: usize = 9;
    let text = format!(
        "@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@compute @workgroup_size({INVOCATIONS}) fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32,
    @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) number: u32) {{
    let at = (group.x * {INVOCATIONS}u + local) * {WORDS}u;
    let value = input[group.x * {INVOCATIONS}u + local];
    output[at] = size;
    output[at + 1u] = number;
    output[at + 2u] = subgroupBroadcastFirst(local);
    output[at + 3u] = subgroupAdd(value);
    output[at + 4u] = subgroupMax(value);
    output[at + 5u] = subgroupExclusiveAdd(value);
    let ballot = countOneBits(subgroupBallot(value % 2u == 1u));
    output[at + 6u] = ballot.x + ballot.y + ballot.z + ballot.w;
    output[at + 7u] = subgroupShuffleXor(value, 1u);
    var odd = 0u;
    if value % 2u == 1u {{ odd = subgroupAdd(value); }}
    output[at + 8u] = odd;
}}
"
    );
    let count = INVOCATIONS * GROUPS;
    let input = (0..count).map(|at| value(at / INVOCATIONS, at % INVOCATIONS)).collect();
    let output = unwritten(WORDS * count as usize);
    let found = Kernel { text: &text, input, output, groups: GROUPS }.run(device).await?;
    let lane = |(at, words): (u32, &[u32])| {
        let &[size, number, first, sum, most, before, ballot, neighbor, odd_sum] = words else { return None };
        let (group, local) = (at / INVOCATIONS, at % INVOCATIONS);
        Some(Lane { size, number, subgroup: (group, first), local, sum, most, before, ballot, neighbor, odd_sum })
    };
    Ok((0..).zip(found.chunks(WORDS)).filter_map(lane).collect())
}

fn by_subgroup(lanes: &[Lane]) -> BTreeMap<(u32, u32), Vec<Lane>> {
    let mut subgroups: BTreeMap<(u32, u32), Vec<Lane>> = BTreeMap::new();
    lanes.iter().for_each(|lane| subgroups.entry(lane.subgroup).or_default().push(*lane));
    subgroups.values_mut().for_each(|lanes| lanes.sort_by_key(|lane| lane.number));
    subgroups
}

/// Whether sizes are those that the adapter tells, and lanes have numbers of their own below them.
pub(super) async fn sizes(device: &Device) -> Result<Answer, Error> {
    let lanes = all(device).await?;
    let sizes: BTreeSet<u32> = lanes.iter().map(|lane| lane.size).collect();
    let listed = sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let Some(told) = device.target().features.subgroup else {
        return Ok(Answer::Fails("the adapter tells no sizes".to_owned()));
    };
    if sizes.iter().any(|size| !size.is_power_of_two() || !(told.min..=told.max).contains(size)) {
        return Ok(Answer::Fails(format!("of {listed}, and {} to {} are told", told.min, told.max)));
    }
    for lanes in by_subgroup(&lanes).values() {
        let numbers: BTreeSet<u32> = lanes.iter().map(|lane| lane.number).collect();
        let is_consistent = numbers.len() == lanes.len() && lanes.iter().all(|lane| lane.number < lane.size);
        // The first lane is the one that the others hear of.
        let first = lanes.first().map(|lane| (lane.local, lane.subgroup.1));
        if !is_consistent || first.is_some_and(|(local, first)| local != first) {
            return Ok(Answer::Fails(format!("lanes of {listed} are not numbered")));
        }
    }
    Ok(Answer::Holds(format!("of {listed}")))
}

/// Whether lanes follow one another as invocations do.
pub(super) async fn lanes(device: &Device) -> Result<Answer, Error> {
    let lanes = all(device).await?;
    let other = lanes.iter().find(|lane| lane.number != lane.local % lane.size.max(1));
    Ok(match other {
        None => Answer::Holds(String::new()),
        Some(lane) => Answer::Fails(format!("invocation {} is lane {} of {}", lane.local, lane.number, lane.size)),
    })
}

/// Whether what subgroups compute is right.
pub(super) async fn collectives(device: &Device) -> Result<Answer, Error> {
    let lanes = all(device).await?;
    let mut wrong = BTreeSet::new();
    for lanes in by_subgroup(&lanes).values() {
        let of = |lane: &Lane| value(lane.subgroup.0, lane.local);
        let values: Vec<u32> = lanes.iter().map(of).collect();
        let sum = |values: &mut dyn Iterator<Item = u32>| values.fold(0u32, u32::wrapping_add);
        let odd = sum(&mut values.iter().copied().filter(|value| value % 2 == 1));
        for (at, lane) in lanes.iter().enumerate() {
            let neighbor = lanes.iter().find(|other| other.number == lane.number ^ 1).map(of);
            let own_odd = if of(lane) % 2 == 1 { odd } else { 0 };
            for (name, is_right) in [
                ("subgroupAdd", lane.sum == sum(&mut values.iter().copied())),
                ("subgroupMax", Some(&lane.most) == values.iter().max()),
                ("subgroupExclusiveAdd", lane.before == sum(&mut values[..at].iter().copied())),
                ("subgroupBallot", lane.ballot as usize == values.iter().filter(|value| **value % 2 == 1).count()),
                ("subgroupShuffleXor", neighbor.is_none_or(|neighbor| neighbor == lane.neighbor)),
                ("subgroupAdd in a branch", lane.odd_sum == own_odd),
            ] {
                if !is_right {
                    wrong.insert(name.to_owned());
                }
            }
        }
    }
    Ok(Answer::of_wrong(&wrong.into_iter().collect::<Vec<_>>(), 6))
}

/// Exchanges words through workgroup memory within subgroups.
pub(super) async fn barrier(device: &Device) -> Result<Answer, Error> {
    const WORDS: usize = 2;
    let text = format!(
        "@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> tile: array<u32, {INVOCATIONS}>;
@compute @workgroup_size({INVOCATIONS}) fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {{
    let at = group.x * {INVOCATIONS}u + local;
    let other = subgroupShuffleXor(local, 1u);
    var value = input[at];
    for (var round = 0u; round < 5u; round++) {{
        tile[local] = value;
        subgroupBarrier();
        value = tile[other % {INVOCATIONS}u] * 3u + local;
        subgroupBarrier();
    }}
    output[at * {WORDS}u] = value;
    output[at * {WORDS}u + 1u] = other;
}}
"
    );
    let count = INVOCATIONS * GROUPS;
    let input: Vec<u32> = (0..count).map(|at| value(at / INVOCATIONS, at % INVOCATIONS)).collect();
    let output = unwritten(WORDS * count as usize);
    let found = Kernel { text: &text, input: input.clone(), output, groups: GROUPS }.run(device).await?;
    let others: Vec<u32> = found.chunks(WORDS).filter_map(|words| words.get(1).copied()).collect();
    let mut values = input;
    for _ in 0..5 {
        let tile = values.clone();
        for (at, value) in (0..).zip(&mut values) {
            let (group, local) = (at / INVOCATIONS, at % INVOCATIONS);
            let other = others.get(at as usize).map_or(0, |other| group * INVOCATIONS + other % INVOCATIONS);
            *value = tile[other as usize].wrapping_mul(3).wrapping_add(local);
        }
    }
    let found: Vec<u32> = found.chunks(WORDS).filter_map(|words| words.first().copied()).collect();
    Ok(super::workgroup::compared(&found, &values))
}
