//! Parameters, constants, tuples, tokens, and what passes a value on.

use super::{Expected, Rule};
use crate::ir::{ElementType, Shape};
use crate::verify::brief::Brief;
use crate::verify::code;

pub(super) fn parameter<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.count(0)?;
    Some(Expected::Open)
}

pub(super) fn constant<'a>(rule: &mut Rule<'a>, shape: &'a Shape) -> Option<Expected<'a>> {
    rule.count(0)?;
    Some(Expected::Same(shape))
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
            format!("the operand of get-tuple-element must be a tuple and is {}", Brief(operand)),
        );
        return None;
    };
    let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
    if element.is_none() {
        rule.attribute(format!("index={index} is outside a tuple of {} elements", elements.len()));
    }
    element.map(Expected::Same)
}

pub(super) fn after_all<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    for position in 0..rule.operands.len() {
        rule.token(position);
    }
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
    Some(Expected::Scalar(ElementType::U32))
}
