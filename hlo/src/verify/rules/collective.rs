//! Collectives: who takes part, and what each of them yields.

use super::{Expected, Rule, reduction};
use crate::ir::{ComputationId, ElementType, HeaderAttribute, ReplicaGroups, Shape};
use crate::verify::code;
use std::collections::BTreeSet;

/// Who takes part in a collective.
#[derive(Copy, Clone)]
pub(super) struct Members<'a> {
    pub(super) groups: &'a ReplicaGroups,
    pub(super) channel: Option<i64>,
    pub(super) global_ids: bool,
    pub(super) demands: Demands,
}

/// What a collective asks of its groups besides that nobody is in two.
#[derive(Copy, Clone, PartialEq)]
pub(super) enum Demands {
    /// Nothing: who is in no group takes no part.
    Disjoint,
    /// That everybody is in one.
    Cover,
    /// That everybody is in one, and that all are of one size.
    CoverEvenly,
}

/// `all-gather` and `reduce-scatter`: one dimension becomes longer or shorter.
pub(super) fn along<'a>(
    rule: &mut Rule<'a>,
    members: Members<'_>,
    dimension: i64,
    to_apply: Option<ComputationId>,
) -> Option<Expected<'a>> {
    check(rule, members);
    rule.at_least(1)?;
    let operands = rule.all_arrays(0)?;
    for operand in &operands {
        rule.dimension("dimensions", dimension, operand.rank(), "an operand");
    }
    if let Some(to_apply) = to_apply {
        reduction::combine(rule, to_apply, &[operands[0].element_type]);
    }
    Some(reduction::one_or_tuple(&operands))
}

pub(super) fn all_gather_start<'a>(rule: &mut Rule<'a>, members: Members<'_>, dimension: i64) -> Option<Expected<'a>> {
    let result = along(rule, members, dimension, None)?;
    Some(Expected::Tuple(vec![passed(rule), result]))
}

/// `all-reduce` and its start: the operands' shapes.
pub(super) fn all_reduce<'a>(
    rule: &mut Rule<'a>,
    members: Members<'_>,
    to_apply: ComputationId,
) -> Option<Expected<'a>> {
    check(rule, members);
    rule.at_least(1)?;
    let operands = rule.all_arrays(0)?;
    reduction::combine(rule, to_apply, &[operands[0].element_type]);
    Some(passed(rule))
}

/// `collective-broadcast`: the operands' shapes.
pub(super) fn broadcast<'a>(rule: &mut Rule<'a>, members: Members<'_>) -> Option<Expected<'a>> {
    check(rule, members);
    rule.at_least(1)?;
    rule.all_arrays(0)?;
    Some(passed(rule))
}

/// With a dimension one operand is cut into parts and joined again; without one each operand is a part, for one member.
pub(super) fn all_to_all<'a>(
    rule: &mut Rule<'a>,
    members: Members<'_>,
    dimension: Option<i64>,
) -> Option<Expected<'a>> {
    check(rule, members);
    if let Some(dimension) = dimension {
        let [operand] = rule.arrays()?;
        rule.dimension("dimensions", dimension, operand.rank(), "the operand");
        return Some(Expected::Same(rule.operands[0]));
    }
    rule.at_least(1)?;
    rule.all_arrays(0)?;
    let operands = rule.operands;
    for (position, operand) in operands.iter().enumerate().skip(1) {
        if !operand.is_compatible(operands[0]) {
            let message = format!(
                "operand {position} of all-to-all must be {} as operand 0 and is {}",
                operands[0].without_layout(),
                operand.without_layout()
            );
            rule.report(code::EXTENTS, message);
        }
    }
    if let Some(size) = group_size(members.groups)
        && size != operands.len()
    {
        let (count, opcode) = (operands.len(), rule.opcode());
        rule.refuse(
            code::GROUPS,
            format!("{opcode} of {count} operands needs groups of {count}, and has groups of {size}"),
        );
    }
    Some(Expected::Tuple(operands.iter().map(|operand| Expected::Same(operand)).collect()))
}

/// The input, the output, and for each the offsets and sizes of its parts.
pub(super) fn ragged_all_to_all<'a>(rule: &mut Rule<'a>, members: Members<'_>) -> Option<Expected<'a>> {
    check(rule, members);
    let [_, _, offsets, ..] = rule.arrays::<6>()?;
    rule.typed_as(1, 0);
    for position in 2..6 {
        if rule.typed(position, ElementType::is_integer, "an integer type") {
            rule.typed_as(position, 2);
        }
        rule.ranked(position, offsets.rank(), " as operand 2");
    }
    Some(Expected::Same(rule.operands[1]))
}

/// With one operand its shape; in place, with inputs, outputs and where in them, the outputs'.
pub(super) fn permute<'a>(rule: &mut Rule<'a>, pairs: &[Vec<i64>]) -> Option<Expected<'a>> {
    source_target_pairs(rule, pairs);
    rule.at_least(1)?;
    Some(match in_place(rule) {
        true => Expected::Same(rule.operands[1]),
        false => {
            rule.all_arrays(0)?;
            passed(rule)
        }
    })
}

/// The operands, the results, and whatever the target keeps beside them.
pub(super) fn permute_start<'a>(rule: &mut Rule<'a>, pairs: &[Vec<i64>]) -> Option<Expected<'a>> {
    source_target_pairs(rule, pairs);
    rule.at_least(1)?;
    if in_place(rule) {
        return Some(Expected::Open);
    }
    rule.all_arrays(0)?;
    let kept = rule.declared.as_tuple().map_or(0, |elements| elements.len().saturating_sub(2));
    let parts = [passed(rule), passed(rule)].into_iter();
    Some(Expected::Tuple(parts.chain(std::iter::repeat_n(Expected::Scalar(ElementType::U32), kept)).collect()))
}

/// Whether the operands are input, output and the two places in them.
fn in_place(rule: &Rule<'_>) -> bool {
    rule.operands.len() == 4
        && rule.operands[2..].iter().all(|place| match place {
            Shape::Tuple(_) => true,
            place => super::control::is_scalar(place, ElementType::S32),
        })
}

/// The one operand, or all of them as a tuple.
fn passed<'a>(rule: &Rule<'a>) -> Expected<'a> {
    match rule.operands {
        [operand] => Expected::Same(operand),
        operands => Expected::Tuple(operands.iter().map(|operand| Expected::Same(operand)).collect()),
    }
}

fn check(rule: &mut Rule<'_>, members: Members<'_>) {
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
    if let Some(missing) = missing.filter(|_| members.demands != Demands::Disjoint) {
        let last = seen.last().copied().unwrap_or(0);
        rule.refuse(code::GROUPS, format!("replica_groups must name every member up to {last}, and lacks {missing}"));
    }
    let uneven = groups.iter().find(|group| group.len() != groups[0].len());
    if let Some(uneven) = uneven.filter(|_| members.demands == Demands::CoverEvenly) {
        let (one, other) = (groups[0].len(), uneven.len());
        let opcode = rule.opcode();
        rule.refuse(code::GROUPS, format!("the groups of {opcode} must be of one size, and are of {one} and {other}"));
    }
    within(rule, seen.last().copied(), members);
}

/// Checks the largest member against the number of those that the header says run the module.
fn within(rule: &mut Rule<'_>, largest: Option<i64>, members: Members<'_>) {
    let (mut replicas, mut partitions) = (None, None);
    for attribute in &rule.module.attributes {
        match attribute {
            HeaderAttribute::ReplicaCount(count) => replicas = Some(*count),
            HeaderAttribute::NumPartitions(count) => partitions = Some(*count),
            _ => {}
        }
    }
    let count = if members.global_ids {
        replicas.unwrap_or(1).checked_mul(partitions.unwrap_or(1))
    } else {
        // Groups across partitions name partitions or replicas, whichever the mode says; the larger number bounds both.
        replicas.unwrap_or(1).checked_mul(if members.channel.is_some() { partitions.unwrap_or(1) } else { 1 })
    };
    let (Some(largest), Some(count), true) = (largest, count, replicas.is_some() || partitions.is_some()) else {
        return;
    };
    if largest >= count {
        let message = format!("replica_groups names member {largest}, and the module runs on {count}");
        rule.refuse(code::GROUPS, message);
    }
}

fn iota(rule: &mut Rule<'_>, dimensions: &[i64], reshape: &[i64], transpose: &[i64]) {
    let product = |extents: &[i64]| extents.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent));
    let positive = dimensions.iter().chain(reshape).all(|&extent| extent >= 1);
    if dimensions.is_empty() || !positive || product(dimensions).is_none() || product(dimensions) != product(reshape) {
        let message = format!(
            "replica_groups must have positive extents and cut as many numbers, {}, as it lays out, {}",
            super::rule::show(dimensions),
            super::rule::show(reshape)
        );
        rule.refuse(code::GROUPS, message);
    }
    let mut sorted = transpose.to_vec();
    sorted.sort_unstable();
    let is_permutation = sorted.len() == reshape.len() && (0i64..).zip(&sorted).all(|(at, &found)| at == found);
    if !transpose.is_empty() && !is_permutation {
        let (transpose, rank) = (super::rule::show(transpose), reshape.len());
        let message =
            format!("the transposition {transpose} of replica_groups must be a permutation of {rank} dimensions");
        rule.refuse(code::GROUPS, message);
    }
}

/// How many members each group has, where the text says so and all have as many.
fn group_size(groups: &ReplicaGroups) -> Option<usize> {
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

fn source_target_pairs(rule: &mut Rule<'_>, pairs: &[Vec<i64>]) {
    let (mut sources, mut targets) = (BTreeSet::new(), BTreeSet::new());
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
            } else if !seen.insert(member) {
                rule.refuse(code::GROUPS, format!("source_target_pairs names the {role} {member} twice"));
            }
        }
    }
}
