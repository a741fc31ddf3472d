//! Verifier rules for operations that call computations with whole values: call, fusion, while, conditional, custom-call.

use super::{Expected, Rule, selection};
use crate::ir::selection::Selection;
use crate::ir::{ComputationId, ElementType, OperandAlias, Shape};
use crate::verify::code;
use crate::verify::shapes::{ShortShape, part};
use std::collections::BTreeSet;

pub(super) fn call<'a>(rule: &mut Rule<'a>, to_apply: ComputationId) -> Option<Expected<'a>> {
    rule.signature(to_apply, rule.operands, 0).map(Expected::Same)
}

pub(super) fn fusion<'a>(rule: &mut Rule<'a>, aliases: &[OperandAlias], calls: ComputationId) -> Option<Expected<'a>> {
    operand_aliases(rule, aliases);
    call(rule, calls)
}

/// The condition and the body take the value; the body returns the next one.
pub(super) fn while_loop<'a>(
    rule: &mut Rule<'a>,
    condition: ComputationId,
    body: ComputationId,
) -> Option<Expected<'a>> {
    let [value] = rule.operands()?;
    if let Some(result) = rule.signature(condition, &[value], 0)
        && !is_scalar(result, ElementType::Pred)
    {
        let message = format!("condition of while must return pred[] and returns {}", ShortShape(result));
        rule.report(code::SIGNATURE, message);
    }
    if let Some(result) = rule.signature(body, &[value], 0) {
        // A body that takes and returns something else is one finding, about what it takes.
        let taken = rule.parameters_of(body).first().map(|&id| &rule.module.computations[body].instructions[id].shape);
        if !result.is_compatible(taken.unwrap_or(value)) {
            let (wanted, given) = (ShortShape(value), ShortShape(result));
            let message = format!("body of while must return {wanted}, its operand's shape, and returns {given}");
            rule.report(code::SIGNATURE, message);
        }
    }
    Some(Expected::Same(value))
}

/// The first operand chooses; of the others each goes to a branch of its own.
pub(super) fn conditional<'a>(rule: &mut Rule<'a>, branches: &[ComputationId], indexed: bool) -> Option<Expected<'a>> {
    if branches.is_empty() {
        rule.attribute("conditional must name at least one branch".to_owned());
        return None;
    }
    rule.count(branches.len() + 1)?;
    let chooser = if indexed { ElementType::S32 } else { ElementType::Pred };
    if rule.array(0).is_some() {
        rule.of_type(0, chooser);
    }
    let mut results = Vec::with_capacity(branches.len());
    for (number, &branch) in branches.iter().enumerate() {
        let passed = &rule.operands[number + 1..number + 2];
        results.extend(rule.signature(branch, passed, number + 1).map(|result| (number, result)));
    }
    let (&(_, first), rest) = results.split_first()?;
    for (number, result) in rest {
        if !result.is_compatible(first) {
            let (wanted, given) = (ShortShape(first), ShortShape(result));
            let message =
                format!("branch {number} of conditional must return {wanted} as branch 0 and returns {given}");
            rule.report(code::SIGNATURE, message);
        }
    }
    Some(Expected::Same(first))
}

pub(super) fn custom_call<'a>(
    rule: &mut Rule<'a>,
    constraints: Option<&[Shape]>,
    aliases: &[OperandAlias],
) -> Option<Expected<'a>> {
    operand_aliases(rule, aliases);
    if let Some(selection) = Selection::of(rule.op, &rule.instruction.attributes) {
        selection::check(rule, selection);
    }
    let Some(constraints) = constraints else { return Some(Expected::Open) };
    if constraints.len() != rule.operands.len() {
        let (wanted, given) = (rule.operands.len(), constraints.len());
        rule.attribute(format!(
            "operand_layout_constraints must have one entry for each of the {wanted} operands, and has {given}"
        ));
        return Some(Expected::Open);
    }
    for (position, (constraint, operand)) in constraints.iter().zip(rule.operands).enumerate() {
        if !constraint.is_compatible(operand) {
            let (operand, constraint) = (ShortShape(operand), ShortShape(constraint));
            rule.attribute(format!("operand_layout_constraints gives operand {position}, {operand}, as {constraint}"));
        }
    }
    Some(Expected::Open)
}

/// Checks that parts of result and operands that share a buffer exist, are alike, and that no part of the result has
/// two.
pub(super) fn operand_aliases(rule: &mut Rule<'_>, aliases: &[OperandAlias]) {
    let mut shared = BTreeSet::new();
    for alias in aliases {
        let output = part(rule.declared, &alias.output);
        let operand = usize::try_from(alias.operand).ok().and_then(|operand| rule.operands.get(operand));
        let operand = operand.and_then(|operand| part(operand, &alias.operand_index));
        let message = match (output, operand) {
            (None, _) => format!("output_to_operand_aliasing={alias} names a part of the result that does not exist"),
            (_, None) => format!("output_to_operand_aliasing={alias} names a part of an operand that does not exist"),
            (Some(output), Some(operand)) if !may_share(output, operand) => format!(
                "output_to_operand_aliasing={alias} must name parts of one shape, and names {} and {}",
                ShortShape(output),
                ShortShape(operand)
            ),
            _ if !shared.insert(&alias.output) => {
                format!("output_to_operand_aliasing={alias} names a part of the result that an earlier entry names")
            }
            _ => continue,
        };
        rule.report(code::ALIAS, message);
    }
}

/// Whether two values may be in one place: they have one shape, or one is a buffer of the other.
fn may_share(output: &Shape, operand: &Shape) -> bool {
    match (output, operand) {
        (Shape::Array(array), Shape::Buffer(held)) | (Shape::Buffer(held), Shape::Array(array)) => {
            array.same_type_and_extents(held)
        }
        (output, operand) => output.is_compatible(operand),
    }
}

pub(super) fn is_scalar(shape: &Shape, element_type: ElementType) -> bool {
    shape.as_array().is_some_and(|array| array.rank() == 0 && array.element_type == element_type)
}
