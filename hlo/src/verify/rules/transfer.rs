//! Verifier rules for transfers: infeed, outfeed, send, recv and copy-start.

use super::{Expected, Rule};
use crate::ir::Shape;
use crate::verify::code;
use crate::verify::shapes::ShortShape;

/// The data that the text says, and a token.
pub(super) fn infeed<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.count(1)?;
    rule.token(0);
    Some(Expected::Tuple(vec![Expected::Open, Expected::Token]))
}

pub(super) fn outfeed<'a>(rule: &mut Rule<'a>, shape: Option<&'a Shape>) -> Option<Expected<'a>> {
    let [data, _] = rule.operands()?;
    rule.token(1);
    if let Some(shape) = shape.filter(|shape| !shape.is_compatible(data)) {
        let (data, shape) = (ShortShape(data), ShortShape(shape));
        rule.attribute(format!("outfeed_shape must be the shape of operand 0, {data}, and is {shape}"));
    }
    Some(Expected::Token)
}

/// The data on its way, a handle, and a token.
pub(super) fn send<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [data, _] = rule.operands()?;
    rule.token(1);
    Some(in_flight(Expected::Same(data)))
}

pub(super) fn recv<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.count(1)?;
    rule.token(0);
    Some(in_flight(Expected::Open))
}

fn in_flight(data: Expected<'_>) -> Expected<'_> {
    Expected::Tuple(vec![data, Expected::Handle, Expected::Token])
}

pub(super) fn send_done<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    transferred(rule)?;
    Some(Expected::Token)
}

pub(super) fn recv_done<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let data = transferred(rule)?;
    Some(Expected::Tuple(vec![Expected::Same(data), Expected::Token]))
}

/// The data of the transfer that the one operand is.
fn transferred<'a>(rule: &mut Rule<'a>) -> Option<&'a Shape> {
    let [transfer] = rule.operands()?;
    if in_flight(Expected::Open).admits(transfer) {
        return transfer.as_tuple()?.first();
    }
    let message = format!("operand 0 of {} must be (..., u32[], token[]) and is {}", rule.name(), ShortShape(transfer));
    rule.refuse(code::ELEMENT_TYPE, message);
    None
}

/// The copy, what is copied, and a handle.
pub(super) fn copy_start<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [source] = rule.operands()?;
    let parts = vec![Expected::Same(source), Expected::Same(source), Expected::Handle];
    Some(Expected::Tuple(parts))
}

/// An end that yields one element of what its start yielded.
pub(super) fn element_done<'a>(rule: &mut Rule<'a>, element: usize) -> Option<Expected<'a>> {
    let [started] = rule.operands()?;
    let found = started.as_tuple().and_then(|elements| elements.get(element));
    if found.is_none() {
        let message = format!(
            "operand 0 of {} must be a tuple of {} or more elements and is {}",
            rule.name(),
            element + 1,
            ShortShape(started)
        );
        rule.refuse(code::ELEMENT_TYPE, message);
    }
    found.map(Expected::Same)
}
