//! Verifier rules for collectives, but for their groups.

use super::groups::{Members, check, group_size, source_target_pairs};
use super::{Expected, Rule, reduction};
use crate::ir::{ComputationId, ElementType, Shape};
use crate::shape::is_in_place;
use crate::verify::code;
use crate::verify::shapes::ShortShape;

/// `all-gather` and `reduce-scatter`: one dimension becomes longer or shorter.
pub(super) fn along<'a>(
    rule: &mut Rule<'a>,
    members: Members<'_>,
    to_apply: Option<ComputationId>,
) -> Option<Expected<'a>> {
    check(rule, members);
    rule.at_least(1)?;
    let operands = rule.all_arrays(0)?;
    if let Some(to_apply) = to_apply {
        let types = [operands[0].element_type];
        reduction::combine(rule, to_apply, &types, &types);
    }
    Some(reduction::one_or_tuple(&reduction::types(&operands)))
}

pub(super) fn all_gather_start<'a>(rule: &mut Rule<'a>, members: Members<'_>) -> Option<Expected<'a>> {
    let result = along(rule, members, None)?;
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
    let types = [operands[0].element_type];
    reduction::combine(rule, to_apply, &types, &types);
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
pub(super) fn all_to_all<'a>(rule: &mut Rule<'a>, members: Members<'_>, is_cut: bool) -> Option<Expected<'a>> {
    check(rule, members);
    if is_cut {
        rule.arrays::<1>()?;
        return Some(Expected::Same(rule.operands[0]));
    }
    rule.at_least(1)?;
    rule.all_arrays(0)?;
    let operands = rule.operands;
    for position in 1..operands.len() {
        rule.typed_as(position, 0);
    }
    if let Some(size) = group_size(members.groups)
        && size != operands.len()
    {
        let (count, opcode) = (operands.len(), rule.name());
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
    rule.arrays::<6>()?;
    rule.typed_as(1, 0);
    for position in 2..6 {
        if rule.typed(position, ElementType::is_integer, "an integer type") {
            rule.typed_as(position, 2);
        }
    }
    Some(Expected::Same(rule.operands[1]))
}

/// With one operand its shape; in place, with inputs, outputs and where in them, the outputs'.
pub(super) fn permute<'a>(
    rule: &mut Rule<'a>,
    pairs: &[Vec<i64>],
    channel: Option<i64>,
    slice_sizes: &[Vec<i64>],
) -> Option<Expected<'a>> {
    let [_, result] = permuted(rule, pairs, channel, slice_sizes)?;
    Some(result)
}

/// The operands, the results, and whatever the target keeps beside them.
pub(super) fn permute_start<'a>(
    rule: &mut Rule<'a>,
    pairs: &[Vec<i64>],
    channel: Option<i64>,
    slice_sizes: &[Vec<i64>],
) -> Option<Expected<'a>> {
    let parts = permuted(rule, pairs, channel, slice_sizes)?;
    let kept = rule.declared.as_tuple().map_or(0, |elements| elements.len().saturating_sub(2));
    Some(Expected::Tuple(parts.into_iter().chain(std::iter::repeat_n(Expected::Handle, kept)).collect()))
}

/// What is sent and what is yielded.
fn permuted<'a>(
    rule: &mut Rule<'a>,
    pairs: &[Vec<i64>],
    channel: Option<i64>,
    slice_sizes: &[Vec<i64>],
) -> Option<[Expected<'a>; 2]> {
    if !is_in_place(slice_sizes, rule.operands) {
        source_target_pairs(rule, pairs, channel, 1);
        if !slice_sizes.is_empty() {
            // Parts are moved from places of an input to places of an output.
            rule.count(4)?;
        }
        rule.at_least(1)?;
        rule.all_arrays(0)?;
        return Some([passed(rule), passed(rule)]);
    }
    let [input, output, from, _] = rule.operands()?;
    source_target_pairs(rule, pairs, channel, sends(input, from));
    for position in [2, 3] {
        let is_start = |leaf: &&Shape| leaf.is_compatible(&Shape::scalar(ElementType::S32));
        if !rule.operands[position].leaves().iter().all(is_start) {
            let (opcode, given) = (rule.name(), ShortShape(rule.operands[position]));
            let message = format!("operand {position} of {opcode} must be s32[] or a tuple of them and is {given}");
            rule.report(code::ELEMENT_TYPE, message);
        }
    }
    Some([Expected::Same(input), Expected::Same(output)])
}

/// How often a member may send in place, and receive: as in XLA as often as the starts in one buffer have elements, which
/// are the starts of one part each, or those of the one part that there is.
fn sends(input: &Shape, starts: &Shape) -> usize {
    let of_one = match input {
        Shape::Tuple(_) => starts.as_tuple().and_then(<[Shape]>::first),
        _ => Some(starts),
    };
    of_one.and_then(Shape::as_tuple).map_or(1, <[Shape]>::len).max(1)
}

/// The one operand, or all of them as a tuple.
fn passed<'a>(rule: &Rule<'a>) -> Expected<'a> {
    match rule.operands {
        [operand] => Expected::Same(operand),
        operands => Expected::Tuple(operands.iter().map(|operand| Expected::Same(operand)).collect()),
    }
}
