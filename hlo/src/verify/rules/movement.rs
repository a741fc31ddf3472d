//! Verifier rules for operations that move elements.

use super::{Expected, Rule};
use crate::ir::ElementType;
use crate::verify::code;

pub(super) fn iota<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.count(0)?;
    let declared = rule.declared_array()?;
    if declared.element_type == ElementType::Pred {
        rule.report(code::ELEMENT_TYPE, "iota counts in numbers, not in pred".to_owned());
    }
    Some(Expected::Open)
}

pub(super) fn broadcast<'a>(rule: &mut Rule<'a>, dimensions: &[i64]) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.declared_array()?;
    rule.distinct("dimensions", dimensions);
    Some(Expected::Array(operand.element_type))
}

pub(super) fn reshape<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.declared_array()?;
    Some(Expected::Array(operand.element_type))
}

pub(super) fn bitcast<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    let declared = rule.declared_array()?;
    if operand.element_type.bits() != declared.element_type.bits() {
        let (from, to) = (operand.element_type, declared.element_type);
        let message = format!("bitcast keeps bytes, and elements of {from} and {to} differ in size");
        rule.report(code::ELEMENT_TYPE, message);
    }
    Some(Expected::Open)
}

pub(super) fn transpose<'a>(rule: &mut Rule<'a>, permutation: &[i64]) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.distinct("dimensions", permutation);
    Some(Expected::Array(operand.element_type))
}

pub(super) fn slice<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    Some(Expected::Array(operand.element_type))
}

pub(super) fn reverse<'a>(rule: &mut Rule<'a>, dimensions: &[i64]) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.distinct("dimensions", dimensions);
    Some(Expected::Array(operand.element_type))
}

pub(super) fn concatenate<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operands = rule.all_arrays(0)?;
    for position in 1..operands.len() {
        rule.typed_as(position, 0);
    }
    Some(Expected::Array(operands[0].element_type))
}

pub(super) fn pad<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand, _] = rule.arrays()?;
    rule.typed_as(1, 0);
    Some(Expected::Array(operand.element_type))
}

pub(super) fn dynamic_slice<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operand = rule.array(0)?;
    start_indices(rule, 1);
    Some(Expected::Array(operand.element_type))
}

pub(super) fn dynamic_update_slice<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.at_least(2)?;
    rule.array(0)?;
    if rule.array(1).is_some() {
        rule.typed_as(1, 0);
    }
    start_indices(rule, 2);
    Some(Expected::Same(rule.operands[0]))
}

fn start_indices(rule: &mut Rule<'_>, first: usize) {
    let Some(indices) = rule.all_arrays(first) else { return };
    for position in first..first + indices.len() {
        if rule.typed(position, ElementType::is_integer, "an integer type") && position > first {
            rule.typed_as(position, first);
        }
    }
}

pub(super) fn get_dimension_size<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.arrays::<1>()?;
    Some(Expected::Array(ElementType::S32))
}

pub(super) fn set_dimension_size<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand, _] = rule.arrays()?;
    rule.of_type(1, ElementType::S32);
    Some(Expected::Array(operand.element_type))
}

/// The operands after the first are the extents of the result.
pub(super) fn dynamic_reshape<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operand = rule.array(0)?;
    rule.declared_array()?;
    if let Some(sizes) = rule.all_arrays(1) {
        for position in 1..=sizes.len() {
            rule.of_type(position, ElementType::S32);
        }
    }
    Some(Expected::Array(operand.element_type))
}
