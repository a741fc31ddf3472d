//! Operations that move elements without computing with them.

use super::rule::show;
use super::{Expected, Rule};
use crate::ir::{ArrayShape, ElementType, PadDimension, SliceDimension};
use crate::verify::code;

pub(super) fn iota<'a>(rule: &mut Rule<'a>, dimension: i64) -> Option<Expected<'a>> {
    rule.count(0)?;
    let declared = rule.declared_array()?;
    rule.dimension("iota_dimension", dimension, declared.rank(), "a result");
    if declared.element_type == ElementType::Pred {
        rule.report(code::ELEMENT_TYPE, "iota counts in numbers, not in pred".to_owned());
    }
    Some(Expected::Open)
}

pub(super) fn broadcast<'a>(rule: &mut Rule<'a>, dimensions: &[i64]) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    let declared = rule.declared_array()?;
    if dimensions.len() != operand.rank() {
        let dimensions = show(dimensions);
        rule.attribute(format!("dimensions={dimensions} must have one entry per dimension of {operand}"));
    } else {
        rule.dimensions("dimensions", dimensions, declared.rank());
    }
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
    if permutation.len() != operand.rank() {
        let dimensions = show(permutation);
        rule.attribute(format!("dimensions={dimensions} must be a permutation of the dimensions of {operand}"));
    } else {
        rule.dimensions("dimensions", permutation, operand.rank());
    }
    Some(Expected::Array(operand.element_type))
}

pub(super) fn slice<'a>(rule: &mut Rule<'a>, dimensions: &[SliceDimension]) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    one_per_dimension(rule, "slice", dimensions.len(), operand);
    for (dimension, part) in dimensions.iter().enumerate() {
        if part.start < 0 || part.start > part.limit {
            let (start, limit) = (part.start, part.limit);
            rule.attribute(format!(
                "slice of dimension {dimension}: 0 <= start <= limit does not hold for start {start}, limit {limit}"
            ));
        } else if part.stride < 1 {
            let stride = part.stride;
            rule.attribute(format!("slice of dimension {dimension}: the stride must be at least 1 and is {stride}"));
        }
    }
    Some(Expected::Array(operand.element_type))
}

pub(super) fn reverse<'a>(rule: &mut Rule<'a>, dimensions: &[i64]) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.dimensions("dimensions", dimensions, operand.rank());
    Some(Expected::Array(operand.element_type))
}

pub(super) fn concatenate<'a>(rule: &mut Rule<'a>, dimension: i64) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operands = rule.all_arrays(0)?;
    rule.dimension("dimensions", dimension, operands[0].rank(), "operands");
    for position in 1..operands.len() {
        rule.typed_as(position, 0);
    }
    Some(Expected::Array(operands[0].element_type))
}

pub(super) fn pad<'a>(rule: &mut Rule<'a>, padding: &[PadDimension]) -> Option<Expected<'a>> {
    let [operand, _] = rule.arrays()?;
    rule.scalar(1, operand.element_type);
    one_per_dimension(rule, "padding", padding.len(), operand);
    for (dimension, padding) in padding.iter().enumerate() {
        if padding.interior < 0 {
            let interior = padding.interior;
            rule.attribute(format!("padding of dimension {dimension}: interior padding {interior} is negative"));
        }
    }
    Some(Expected::Array(operand.element_type))
}

/// The start indices are one scalar for each dimension, or one vector of them.
pub(super) fn dynamic_slice<'a>(rule: &mut Rule<'a>, sizes: &[i64]) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operand = rule.array(0)?;
    start_indices(rule, 1, operand);
    one_per_dimension(rule, "dynamic_slice_sizes", sizes.len(), operand);
    Some(Expected::Array(operand.element_type))
}

pub(super) fn dynamic_update_slice<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.at_least(2)?;
    let operand = rule.array(0)?;
    if rule.array(1).is_some() {
        rule.typed_as(1, 0);
        rule.ranked(1, operand.rank(), " as operand 0");
    }
    start_indices(rule, 2, operand);
    Some(Expected::Same(rule.operands[0]))
}

fn start_indices(rule: &mut Rule<'_>, first: usize, operand: &ArrayShape) {
    let Some(indices) = rule.all_arrays(first) else { return };
    let is_vector = indices.len() == 1 && indices[0].rank() == 1;
    if !is_vector && indices.len() != operand.rank() {
        let message = format!(
            "{} takes one start index for each of the {} dimensions of operand 0 and has {}",
            rule.opcode(),
            operand.rank(),
            indices.len()
        );
        return rule.refuse(code::OPERAND_COUNT, message);
    }
    for position in first..first + indices.len() {
        if rule.typed(position, ElementType::is_integer, "an integer type") && position > first {
            rule.typed_as(position, first);
        }
        if !is_vector {
            rule.ranked(position, 0, "");
        }
    }
}

pub(super) fn one_per_dimension(rule: &mut Rule<'_>, name: &str, count: usize, operand: &ArrayShape) {
    if count != operand.rank() {
        let rank = operand.rank();
        rule.attribute(format!(
            "{name} must have one entry for each of the {rank} dimensions of the operand, and has {count}"
        ));
    }
}
