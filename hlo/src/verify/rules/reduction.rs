//! Reductions over dimensions and over windows.

use super::{Expected, Rule, window};
use crate::ir::{ArrayShape, ComputationId, ElementType, Shape, Window};
use crate::verify::code;

pub(super) fn reduce<'a>(rule: &mut Rule<'a>, dimensions: &[i64], to_apply: ComputationId) -> Option<Expected<'a>> {
    let inputs = inputs(rule)?;
    rule.dimensions("dimensions", dimensions, inputs[0].rank());
    combine(rule, to_apply, &types(&inputs));
    Some(one_or_tuple(&inputs))
}

pub(super) fn reduce_window<'a>(rule: &mut Rule<'a>, shape: &Window, to_apply: ComputationId) -> Option<Expected<'a>> {
    let inputs = inputs(rule)?;
    window::check(rule, shape, inputs[0].rank(), "the inputs");
    combine(rule, to_apply, &types(&inputs));
    Some(one_or_tuple(&inputs))
}

/// The inputs of a reduction, whose initial values must have their types.
fn inputs<'a>(rule: &mut Rule<'a>) -> Option<Vec<&'a ArrayShape>> {
    let operands = rule.operands.len();
    if operands == 0 || !operands.is_multiple_of(2) {
        let message =
            format!("{} takes N inputs and N initial values, N at least 1, and has {operands} operands", rule.opcode());
        rule.refuse(code::OPERAND_COUNT, message);
        return None;
    }
    let mut arrays = rule.all_arrays(0)?;
    let initials = arrays.split_off(operands / 2);
    for (position, (input, initial)) in arrays.iter().zip(initials).enumerate() {
        if initial.rank() != 0 || initial.element_type != input.element_type {
            let message = format!(
                "operand {} of {}, the initial value for operand {position}, must be {}[] and is {initial}",
                arrays.len() + position,
                rule.opcode(),
                input.element_type
            );
            rule.report(code::ELEMENT_TYPE, message);
        }
    }
    Some(arrays)
}

pub(super) fn select_and_scatter<'a>(
    rule: &mut Rule<'a>,
    shape: &Window,
    select: ComputationId,
    scatter: ComputationId,
) -> Option<Expected<'a>> {
    let [operand, _, _] = rule.arrays()?;
    rule.typed_as(1, 0);
    rule.scalar(2, operand.element_type);
    window::check(rule, shape, operand.rank(), "operand 0");
    let element = Shape::scalar(operand.element_type);
    let pair = [element.clone(), element.clone()];
    rule.region(select, &pair, "two elements", &Shape::scalar(ElementType::Pred));
    rule.region(scatter, &pair, "an element and its update", &element);
    Some(Expected::Same(rule.operands[0]))
}

/// Checks a computation that combines `N` accumulators and `N` elements of these types.
pub(super) fn combine(rule: &mut Rule<'_>, to_apply: ComputationId, types: &[ElementType]) {
    let scalars: Vec<Shape> = types.iter().map(|&element_type| Shape::scalar(element_type)).collect();
    let result = match &scalars[..] {
        [scalar] => scalar.clone(),
        _ => Shape::Tuple(scalars.clone()),
    };
    let wanted: Vec<Shape> = scalars.iter().chain(&scalars).cloned().collect();
    rule.region(to_apply, &wanted, "the accumulators and the elements", &result);
}

fn types(arrays: &[&ArrayShape]) -> Vec<ElementType> {
    arrays.iter().map(|array| array.element_type).collect()
}

/// One array of the type of the one input, or a tuple of as many as there are inputs.
pub(super) fn one_or_tuple<'a>(inputs: &[&ArrayShape]) -> Expected<'a> {
    match inputs {
        [input] => Expected::Array(input.element_type),
        _ => Expected::Tuple(inputs.iter().map(|input| Expected::Array(input.element_type)).collect()),
    }
}
