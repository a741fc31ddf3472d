//! Parameters, constants, copies, tuples and calls.

use super::{Findings, Operation, refuse};
use crate::diagnostic::Diagnostics;
use crate::ir::{Computation, ComputationId, Data, ElementType, Literal, Shape};
use crate::verify::code;

pub(super) fn parameter(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    operation.expect_operands(0)?;
    Ok(operation.declared.without_layout())
}

pub(super) fn constant(operation: &Operation<'_>, literal: &Literal) -> Result<Shape, Diagnostics> {
    operation.expect_operands(0)?;
    let mut findings = Findings::default();
    let mut pending = vec![literal];
    while let Some(literal) = pending.pop() {
        if let Some(message) = misfit(literal) {
            findings.add(code::CONSTANT, message);
        }
        if let Data::Tuple(elements) = &literal.data {
            pending.extend(elements);
        }
    }
    findings.unless_any(literal.shape.without_layout())
}

/// What is wrong with the outermost level of a literal.
fn misfit(literal: &Literal) -> Option<String> {
    match (&literal.shape, &literal.data) {
        (Shape::Tuple(shapes), Data::Tuple(elements)) => {
            let fits = shapes.len() == elements.len()
                && shapes.iter().zip(elements).all(|(shape, element)| shape.is_compatible(&element.shape));
            (!fits).then(|| format!("the elements of the constant do not have the shapes {}", literal.shape))
        }
        (Shape::Array(_), Data::Elided) => None,
        (Shape::Array(array), data) => {
            let held = data.len().and_then(|count| i64::try_from(count).ok());
            if data.element_type() != Some(array.element_type) {
                let given = data.element_type().map_or("a tuple", ElementType::name);
                Some(format!("the constant holds {given}, its shape is {array}"))
            } else if held != array.element_count() {
                Some(format!("the constant holds {} elements, its shape is {array}", held.unwrap_or(0)))
            } else {
                None
            }
        }
        (shape, _) => Some(format!("a constant cannot be of shape {shape} with this value")),
    }
}

pub(super) fn copy(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    operation.expect_operands(1)?;
    Ok(operation.operands[0].without_layout())
}

pub(super) fn tuple(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    Ok(Shape::Tuple(operation.operands.iter().map(|shape| shape.without_layout()).collect()))
}

pub(super) fn get_tuple_element(operation: &Operation<'_>, index: i64) -> Result<Shape, Diagnostics> {
    operation.expect_operands(1)?;
    let Some(elements) = operation.operands[0].as_tuple() else {
        return refuse(
            code::ELEMENT_TYPE,
            format!("the operand of get-tuple-element must be a tuple and is {}", operation.operands[0]),
        );
    };
    match usize::try_from(index).ok().and_then(|index| elements.get(index)) {
        Some(element) => Ok(element.without_layout()),
        None => refuse(code::ATTRIBUTE, format!("index={index} is outside a tuple of {} elements", elements.len())),
    }
}

pub(super) fn call(operation: &Operation<'_>, to_apply: ComputationId) -> Result<Shape, Diagnostics> {
    let computation = callee(operation, to_apply)?;
    let mut findings = Findings::default();
    let parameters = computation.parameters();
    if parameters.len() != operation.operands.len() {
        findings.add(
            code::SIGNATURE,
            format!(
                "{} takes {} parameters, {} passes {}",
                computation.name,
                parameters.len(),
                operation.op.opcode(),
                operation.operands.len()
            ),
        );
    }
    for (number, (id, given)) in parameters.into_iter().zip(operation.operands).enumerate() {
        let wanted = &computation.instructions[id].shape;
        if !wanted.is_compatible(given) {
            findings.add(
                code::SIGNATURE,
                format!(
                    "parameter {number} of {} is {}, operand {number} is {}",
                    computation.name,
                    wanted.without_layout(),
                    given.without_layout()
                ),
            );
        }
    }
    findings.unless_any(computation.result_shape().without_layout())
}

/// The computation, which must exist and have a root.
pub(super) fn callee<'a>(operation: &Operation<'a>, id: ComputationId) -> Result<&'a Computation, Diagnostics> {
    match operation.module.computations.get(id) {
        Some(computation) if computation.instructions.get(computation.root).is_some() => Ok(computation),
        Some(computation) => refuse(code::ROOT, format!("{} has no root", computation.name)),
        None => refuse(code::CALL_ORDER, format!("{} calls a computation that does not exist", operation.op.opcode())),
    }
}
