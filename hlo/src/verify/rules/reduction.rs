//! Verifier rules for reductions over dimensions and windows.

use super::{Expected, Rule};
use crate::ir::{ArrayShape, ComputationId, ElementType, Shape};
use crate::verify::code;

pub(super) fn reduce<'a>(rule: &mut Rule<'a>, dimensions: &[i64], to_apply: ComputationId) -> Option<Expected<'a>> {
    let inputs = inputs(rule)?;
    rule.distinct("dimensions", dimensions);
    let types = accumulated(rule, to_apply, &inputs);
    let elements = elements(rule, to_apply, &inputs);
    combine(rule, to_apply, &types, &elements);
    Some(one_or_tuple(&types))
}

pub(super) fn reduce_window<'a>(rule: &mut Rule<'a>, to_apply: ComputationId) -> Option<Expected<'a>> {
    let inputs = inputs(rule)?;
    let types = accumulated(rule, to_apply, &inputs);
    let elements = elements(rule, to_apply, &inputs);
    combine(rule, to_apply, &types, &elements);
    Some(one_or_tuple(&types))
}

/// The types in which a reduction accumulates: those of its inputs, but of floats the type of float that the computation
/// returns, as XLA has it.
fn accumulated(rule: &Rule<'_>, to_apply: ComputationId, inputs: &[&ArrayShape]) -> Vec<ElementType> {
    let result = rule.callee(to_apply).map(|computation| computation.result_shape());
    let returned = match result {
        Some(Shape::Tuple(elements)) if inputs.len() > 1 && elements.len() == inputs.len() => &elements[..],
        Some(one) if inputs.len() == 1 => std::slice::from_ref(one),
        _ => &[],
    };
    let types = inputs.iter().enumerate().map(|(position, input)| {
        let returned = returned.get(position).and_then(|shape| shape.as_array());
        let returned = returned.map_or(input.element_type, |array| array.element_type);
        if like(input.element_type, returned) { returned } else { input.element_type }
    });
    types.collect()
}

/// The types in which the computation of a reduction takes the elements: those of the inputs, of floats any float.
fn elements(rule: &Rule<'_>, to_apply: ComputationId, inputs: &[&ArrayShape]) -> Vec<ElementType> {
    let computation = rule.callee(to_apply);
    let taken = rule.parameters_of(to_apply).get(inputs.len()..).unwrap_or(&[]);
    let types = inputs.iter().enumerate().map(|(position, input)| {
        let taken = taken.get(position).and_then(|&id| computation?.instructions.get(id)?.shape.as_array());
        let taken = taken.map_or(input.element_type, |array| array.element_type);
        if like(input.element_type, taken) { taken } else { input.element_type }
    });
    types.collect()
}

/// Whether two types are the same, or both floats.
fn like(one: ElementType, other: ElementType) -> bool {
    one == other || (one.is_float() && other.is_float())
}

/// The inputs of a reduction, whose initial values must have their types; the types of floats may differ.
fn inputs<'a>(rule: &mut Rule<'a>) -> Option<Vec<&'a ArrayShape>> {
    let operands = rule.operands.len();
    if operands == 0 || !operands.is_multiple_of(2) {
        let message =
            format!("{} takes N inputs and N initial values, N at least 1, and has {operands} operands", rule.name());
        rule.refuse(code::OPERAND_COUNT, message);
        return None;
    }
    let mut arrays = rule.all_arrays(0)?;
    let initials = arrays.split_off(operands / 2);
    for (position, (input, initial)) in arrays.iter().zip(initials).enumerate() {
        if !like(initial.element_type, input.element_type) {
            let message = format!(
                "operand {} of {}, the initial value for operand {position}, must be {} and is {}",
                arrays.len() + position,
                rule.name(),
                input.element_type,
                initial.element_type
            );
            rule.report(code::ELEMENT_TYPE, message);
        }
    }
    Some(arrays)
}

pub(super) fn select_and_scatter<'a>(
    rule: &mut Rule<'a>,
    select: ComputationId,
    scatter: ComputationId,
) -> Option<Expected<'a>> {
    let [operand, _, _] = rule.arrays()?;
    rule.typed_as(1, 0);
    rule.typed_as(2, 0);
    let element = Shape::scalar(operand.element_type);
    let pair = [element.clone(), element.clone()];
    rule.region(select, &pair, "two elements", &Shape::scalar(ElementType::Pred));
    rule.region(scatter, &pair, "an element and its update", &element);
    Some(Expected::Same(rule.operands[0]))
}

/// Checks a computation that combines `N` accumulators and `N` elements of these types.
pub(super) fn combine(rule: &mut Rule<'_>, to_apply: ComputationId, types: &[ElementType], elements: &[ElementType]) {
    let scalars = |types: &[ElementType]| -> Vec<Shape> { types.iter().copied().map(Shape::scalar).collect() };
    let accumulators = scalars(types);
    let result = match &accumulators[..] {
        [scalar] => scalar.clone(),
        _ => Shape::Tuple(accumulators.clone()),
    };
    let wanted: Vec<Shape> = accumulators.into_iter().chain(scalars(elements)).collect();
    rule.region(to_apply, &wanted, "the accumulators and the elements", &result);
}

pub(super) fn types(arrays: &[&ArrayShape]) -> Vec<ElementType> {
    arrays.iter().map(|array| array.element_type).collect()
}

/// One array of the one type, or a tuple of as many as there are types.
pub(super) fn one_or_tuple<'a>(types: &[ElementType]) -> Expected<'a> {
    match types {
        [one] => Expected::Array(*one),
        _ => Expected::Tuple(types.iter().map(|element_type| Expected::Array(*element_type)).collect()),
    }
}

/// `batch-norm-training`: the operand, scale and offset.
pub(super) fn training<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    operands::<3>(rule)?;
    let feature = rule.operands[1];
    Some(Expected::Tuple(vec![Expected::Same(rule.operands[0]), Expected::Same(feature), Expected::Same(feature)]))
}

/// `batch-norm-inference`: the operand, scale, offset, mean and variance.
pub(super) fn inference<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    operands::<5>(rule)?;
    Some(Expected::Same(rule.operands[0]))
}

/// `batch-norm-grad`: the operand, scale, mean, variance and the gradient of the result.
pub(super) fn gradient<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    operands::<5>(rule)?;
    let feature = rule.operands[1];
    Some(Expected::Tuple(vec![Expected::Same(rule.operands[0]), Expected::Same(feature), Expected::Same(feature)]))
}

/// Checks that all operands are arrays of one type of float.
fn operands<const COUNT: usize>(rule: &mut Rule<'_>) -> Option<()> {
    rule.arrays::<COUNT>()?;
    rule.typed(0, ElementType::is_float, "a float type");
    for position in 1..COUNT {
        rule.typed_as(position, 0);
    }
    Some(())
}
