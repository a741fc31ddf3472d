//! Verifier rules for the groups of collectives.

use super::Rule;
use super::rule::show;
use crate::ir::ReplicaGroups;
use crate::verify::code;
use std::collections::{BTreeMap, BTreeSet};

/// Who takes part in a collective.
#[derive(Copy, Clone)]
pub(super) struct Members<'a> {
    pub(super) groups: &'a ReplicaGroups,
    pub(super) channel: Option<i64>,
    pub(super) global_ids: bool,
    pub(super) demands: GroupRule,
}

/// The requirement of a collective on its groups besides that they are disjoint.
#[derive(Copy, Clone, PartialEq)]
pub(super) enum GroupRule {
    /// Nothing: who is in no group takes no part.
    Disjoint,
    /// That everybody is in one.
    Cover,
    /// That everybody is in one, and that all are of one size.
    CoverEvenly,
}

/// Checks the groups of a collective, and that it has the channel that they need.
pub(super) fn check(rule: &mut Rule<'_>, members: Members<'_>) {
    if members.global_ids && members.channel.is_none_or(|channel| channel < 1) {
        rule.report(code::CHANNEL, "use_global_device_ids=true needs a channel_id of at least 1".to_owned());
    }
    match members.groups {
        ReplicaGroups::List(groups) => list(rule, groups, members),
        ReplicaGroups::Iota { dimensions, reshape, transpose } => iota(rule, dimensions, reshape, transpose),
        ReplicaGroups::Mesh(_) => {}
    }
}

fn list(rule: &mut Rule<'_>, groups: &[Vec<i64>], members: Members<'_>) {
    let mut seen = BTreeSet::new();
    for (number, group) in groups.iter().enumerate() {
        if group.is_empty() {
            rule.refuse(code::GROUPS, format!("group {number} of replica_groups must have a member"));
        }
        for &member in group {
            if member < 0 {
                rule.refuse(code::GROUPS, format!("a member in replica_groups must be at least 0 and is {member}"));
            } else if !seen.insert(member) {
                rule.refuse(code::GROUPS, format!("replica_groups names member {member} twice"));
            }
        }
    }
    let missing = (0i64..).zip(&seen).find(|(number, member)| number != *member).map(|(number, _)| number);
    if let Some(missing) = missing.filter(|_| members.demands != GroupRule::Disjoint) {
        let last = seen.last().copied().unwrap_or(0);
        rule.refuse(code::GROUPS, format!("replica_groups must name every member up to {last}, and lacks {missing}"));
    }
    // That a group must have a member is said already.
    let mut sizes = groups.iter().map(Vec::len).filter(|&size| size > 0);
    let first = sizes.next().unwrap_or(0);
    if let Some(other) = sizes.find(|&size| size != first).filter(|_| members.demands == GroupRule::CoverEvenly) {
        let opcode = rule.name();
        rule.refuse(
            code::GROUPS,
            format!("the groups of {opcode} must be of one size, and are of {first} and {other}"),
        );
    }
    let over_channel = members.global_ids || members.channel.is_some();
    within(rule, "replica_groups", seen.last().copied(), over_channel);
}

/// Checks the largest member against the number of those that the header says run the module. Members are replicas;
/// over a channel they are replicas, partitions or devices, and of devices there are most.
fn within(rule: &mut Rule<'_>, name: &str, largest: Option<i64>, over_channel: bool) {
    let (replicas, partitions) = (rule.module.replica_count(), rule.module.num_partitions());
    let count = match partitions {
        _ if !over_channel => replicas,
        Some(partitions) => partitions.checked_mul(replicas.unwrap_or(1)),
        None => None,
    };
    if let Some((largest, count)) = largest.zip(count).filter(|(largest, count)| largest >= count) {
        rule.refuse(code::GROUPS, format!("{name} names member {largest}, and the module runs on {count}"));
    }
}

fn iota(rule: &mut Rule<'_>, dimensions: &[i64], reshape: &[i64], transpose: &[i64]) {
    let product = |extents: &[i64]| extents.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent));
    let positive = dimensions.iter().chain(reshape).all(|&extent| extent >= 1);
    if dimensions.is_empty() || !positive || product(dimensions).is_none() || product(dimensions) != product(reshape) {
        let message = format!(
            "replica_groups must have positive extents and cut as many numbers, {}, as it lays out, {}",
            show(dimensions),
            show(reshape)
        );
        rule.refuse(code::GROUPS, message);
    }
    let mut sorted = transpose.to_vec();
    sorted.sort_unstable();
    let is_permutation = sorted.len() == reshape.len() && (0i64..).zip(&sorted).all(|(at, &found)| at == found);
    if !transpose.is_empty() && !is_permutation {
        let (transpose, rank) = (show(transpose), reshape.len());
        let message =
            format!("the transposition {transpose} of replica_groups must be a permutation of {rank} dimensions");
        rule.refuse(code::GROUPS, message);
    }
}

/// How many members each group has, where the text says so and all have as many.
pub(super) fn group_size(groups: &ReplicaGroups) -> Option<usize> {
    match groups {
        ReplicaGroups::List(groups) => {
            let size = groups.first()?.len();
            groups.iter().all(|group| group.len() == size).then_some(size)
        }
        ReplicaGroups::Iota { dimensions, .. } => match dimensions[..] {
            [_, size] => usize::try_from(size).ok(),
            _ => None,
        },
        ReplicaGroups::Mesh(_) => None,
    }
}

/// Checks that nobody sends or receives more often than is allowed.
pub(super) fn source_target_pairs(rule: &mut Rule<'_>, pairs: &[Vec<i64>], channel: Option<i64>, allowed: usize) {
    let (mut sources, mut targets) = (BTreeMap::new(), BTreeMap::new());
    for (number, pair) in pairs.iter().enumerate() {
        let [source, target] = pair[..] else {
            let given = pair.len();
            let message =
                format!("entry {number} of source_target_pairs must be a source and a target, and has {given}");
            rule.refuse(code::GROUPS, message);
            continue;
        };
        for (role, member, seen) in [("source", source, &mut sources), ("target", target, &mut targets)] {
            if member < 0 {
                rule.refuse(
                    code::GROUPS,
                    format!("a {role} in source_target_pairs must be at least 0 and is {member}"),
                );
                continue;
            }
            let count = seen.entry(member).or_insert(0usize);
            *count += 1;
            if *count == allowed + 1 {
                let often = if allowed == 1 { "twice".to_owned() } else { format!("more than {allowed} times") };
                rule.refuse(code::GROUPS, format!("source_target_pairs names the {role} {member} {often}"));
            }
        }
    }
    let largest = sources.keys().chain(targets.keys()).copied().max();
    within(rule, "source_target_pairs", largest, channel.is_some());
}
