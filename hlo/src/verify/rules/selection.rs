//! The verifier's rule for custom calls that take the best elements of lines.

use super::Rule;
use crate::ir::selection::Selection;
use crate::ir::{ArrayShape, ElementType, Shape};
use crate::verify::code;
use crate::verify::shapes::ShortShape;

/// Checks operands, comparator and results; of extents that are not known, nothing is said.
pub(super) fn check(rule: &mut Rule<'_>, selection: Result<Selection, String>) -> Option<()> {
    let selection = match selection {
        Ok(selection) => selection,
        Err(message) => {
            rule.attribute(message);
            return None;
        }
    };
    rule.at_least(2)?;
    let operands = rule.all_arrays(0)?;
    if operands.len() % 2 != 0 {
        let message =
            format!("{} takes as many initial values as arrays, and {} operands", rule.name(), operands.len());
        rule.refuse(code::OPERAND_COUNT, message);
        return None;
    }
    let (inputs, initials) = operands.split_at(operands.len() / 2);
    let pair = |input: &&ArrayShape| [Shape::scalar(input.element_type), Shape::scalar(input.element_type)];
    let pairs: Vec<Shape> = inputs.iter().flat_map(pair).collect();
    rule.region(selection.comparator, &pairs, "two elements of each array", &Shape::scalar(ElementType::Pred));
    for (number, initial) in initials.iter().enumerate() {
        rule.typed_as(inputs.len() + number, number);
        if initial.rank() != 0 {
            let message = format!("initial value {number} of {} must be a scalar and is {initial}", rule.name());
            rule.refuse(code::EXTENTS, message);
        }
    }
    let first = inputs[0];
    if selection.dimension >= first.rank() {
        let (dimension, rank) = (selection.dimension, first.rank());
        rule.attribute(format!("reduction_dim={dimension} must be a dimension of an array of rank {rank}"));
        return None;
    }
    if let Some(other) = inputs.iter().find(|input| input.extents != first.extents) {
        let message = format!("the arrays of {} must have the same extents; two are {first} and {other}", rule.name());
        rule.refuse(code::EXTENTS, message);
        return None;
    }
    results(rule, &selection, inputs)
}

fn results(rule: &mut Rule<'_>, selection: &Selection, inputs: &[&ArrayShape]) -> Option<()> {
    let declared = rule.declared.leaves();
    // While shapes are inferred there is none.
    if declared.is_empty() {
        return None;
    }
    let arrays: Option<Vec<&ArrayShape>> = declared.iter().map(|shape| shape.as_array()).collect();
    let Some(arrays) = arrays.filter(|arrays| arrays.len() == inputs.len()) else {
        let (count, given) = (inputs.len(), ShortShape(rule.declared));
        let message = format!("{} yields {count} arrays, the text says {given}", rule.name());
        rule.report(code::RESULT_SHAPE, message);
        return None;
    };
    let is_known = |array: &&ArrayShape| array.dynamic.is_empty();
    if !inputs.iter().all(is_known) || !arrays.iter().all(is_known) {
        return None;
    }
    let length = inputs[0].extents[selection.dimension];
    // Without an order, results have as many places as the text says.
    let places = match selection.wanted.filter(|_| selection.is_ordered) {
        Some(wanted) => wanted,
        None => *arrays[0].extents.get(selection.dimension).unwrap_or(&length),
    };
    for (input, array) in inputs.iter().zip(arrays) {
        let mut extents = input.extents.clone();
        extents[selection.dimension] = places;
        let wanted = ArrayShape::new(input.element_type, extents);
        if !wanted.same_type_and_extents(array) {
            let message = format!("{} yields {wanted}, the text says {array}", rule.name());
            rule.report(code::RESULT_SHAPE, message);
            return None;
        }
    }
    let name = rule.name();
    let message = match (selection.wanted, selection.log2_reduction) {
        (Some(wanted), _) if wanted > places => format!("{name} of {wanted} elements yields {places}"),
        (Some(wanted), _) if selection.is_ordered && wanted > length => {
            format!("{name} takes {wanted} elements of {length}")
        }
        _ if places == 0 && length > 0 => format!("{name} yields no elements of {length}"),
        (_, Some(halvings))
            if 1i64
                .checked_shl(halvings)
                .and_then(|size| size.checked_mul(places))
                .is_some_and(|most| most < length) =>
        {
            format!("{name} with log2_reduction={halvings} yields {places} elements of {length}")
        }
        _ => return Some(()),
    };
    rule.report(code::EXTENTS, message);
    None
}
