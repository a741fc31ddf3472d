//! Reductions: types, dimension numbers and regions.

use super::structural::callee;
use super::{Findings, Operation, distinct_dimensions, refuse};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArrayShape, ComputationId, Shape};
use crate::verify::code;

pub(super) fn reduce(
    operation: &Operation<'_>,
    dimensions: &[i64],
    to_apply: ComputationId,
) -> Result<Shape, Diagnostics> {
    let operands = operation.all_arrays()?;
    if operands.is_empty() || operands.len() % 2 != 0 {
        return refuse(
            code::OPERAND_COUNT,
            format!("reduce takes N inputs and N initial values, N at least 1, and has {} operands", operands.len()),
        );
    }
    let (inputs, initials) = operands.split_at(operands.len() / 2);
    let mut findings = Findings::default();
    inputs_and_initials(&mut findings, inputs, initials);
    distinct_dimensions(&mut findings, "dimensions", dimensions, inputs[0].rank());
    if let Err(found) = region(operation, inputs, to_apply) {
        findings.0.extend(found.0);
    }
    findings.unless_any(())?;
    let mut results =
        inputs.iter().zip(operation.extents()?).map(|(input, kept)| Shape::array(input.element_type, kept.to_vec()));
    Ok(match inputs {
        [_] => results.next().expect("a reduction of one input has one result"),
        _ => Shape::Tuple(results.collect()),
    })
}

fn inputs_and_initials(findings: &mut Findings, inputs: &[&ArrayShape], initials: &[&ArrayShape]) {
    for (position, (input, initial)) in inputs.iter().zip(initials).enumerate() {
        if initial.element_type != input.element_type {
            findings.add(
                code::ELEMENT_TYPE,
                format!(
                    "operand {} of reduce, the initial value for operand {position}, must be {}[] and is {initial}",
                    inputs.len() + position,
                    input.element_type
                ),
            );
        }
    }
}

/// The region takes `N` accumulators, then `N` elements, all scalars, and returns `N` accumulators.
fn region(operation: &Operation<'_>, inputs: &[&ArrayShape], to_apply: ComputationId) -> Result<(), Diagnostics> {
    let computation = callee(operation, to_apply)?;
    let mut findings = Findings::default();
    let scalars: Vec<Shape> = inputs.iter().map(|input| Shape::scalar(input.element_type)).collect();
    let parameters = computation.parameters();
    if parameters.len() != 2 * inputs.len() {
        findings.add(
            code::REGION,
            format!(
                "{} must take {} parameters, the accumulators and the elements, and takes {}",
                computation.name,
                2 * inputs.len(),
                parameters.len()
            ),
        );
    }
    for (number, (id, wanted)) in parameters.into_iter().zip(scalars.iter().cycle()).take(2 * inputs.len()).enumerate()
    {
        let given = &computation.instructions[id].shape;
        if !given.is_compatible(wanted) {
            findings.add(
                code::REGION,
                format!("parameter {number} of {} must be {wanted} and is {given}", computation.name),
            );
        }
    }
    let wanted = match &scalars[..] {
        [scalar] => scalar.clone(),
        _ => Shape::Tuple(scalars),
    };
    let given = computation.result_shape();
    if !given.is_compatible(&wanted) {
        findings.add(code::REGION, format!("{} must return {wanted} and returns {given}", computation.name));
    }
    findings.unless_any(())
}
