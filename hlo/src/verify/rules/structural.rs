//! Verifier rules for parameters, constants, tuples, tokens and copies.

use super::{Expected, Rule};
use crate::ir::{Data, ElementType, Literal, Shape};
use crate::verify::code;
use crate::verify::shapes::ShortShape;

pub(super) fn parameter<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.count(0)?;
    Some(Expected::Open)
}

pub(super) fn constant<'a>(rule: &mut Rule<'a>, literal: &'a Literal) -> Option<Expected<'a>> {
    rule.count(0)?;
    let mut pending = vec![literal];
    while let Some(literal) = pending.pop() {
        if let Some(message) = misfit(literal) {
            rule.report(code::CONSTANT, message);
        }
        if let Data::Tuple(elements) = &literal.data {
            pending.extend(elements);
        }
    }
    Some(Expected::Same(&literal.shape))
}

/// What is wrong with the outermost level of a literal.
fn misfit(literal: &Literal) -> Option<String> {
    match (&literal.shape, &literal.data) {
        (Shape::Tuple(shapes), Data::Tuple(elements)) => {
            let fits = shapes.len() == elements.len()
                && shapes.iter().zip(elements).all(|(shape, element)| shape.is_compatible(&element.shape));
            let shape = ShortShape(&literal.shape);
            (!fits).then(|| format!("the elements of the constant do not have the shapes {shape}"))
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
        (shape, _) => Some(format!("a constant cannot be of shape {} with this value", ShortShape(shape))),
    }
}

/// `copy`, `opt-barrier`, `domain`: the value of the one operand.
pub(super) fn same<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.operands()?;
    Some(Expected::Same(operand))
}

pub(super) fn tuple<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    Some(Expected::Tuple(rule.operands.iter().map(|shape| Expected::Same(shape)).collect()))
}

pub(super) fn get_tuple_element<'a>(rule: &mut Rule<'a>, index: i64) -> Option<Expected<'a>> {
    let [operand] = rule.operands()?;
    let Some(elements) = operand.as_tuple() else {
        rule.refuse(
            code::ELEMENT_TYPE,
            format!("the operand of get-tuple-element must be a tuple and is {}", ShortShape(operand)),
        );
        return None;
    };
    let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
    if element.is_none() {
        rule.attribute(format!("index={index} is outside a tuple of {} elements", elements.len()));
    }
    element.map(Expected::Same)
}

/// What it comes after may be values of any shape.
pub(super) fn after_all<'a>() -> Option<Expected<'a>> {
    Some(Expected::Token)
}

pub(super) fn add_dependency<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand, _] = rule.operands()?;
    rule.token(1);
    Some(Expected::Same(operand))
}

/// `partition-id` and `replica-id`.
pub(super) fn own_id<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.count(0)?;
    Some(Expected::Array(ElementType::U32))
}
