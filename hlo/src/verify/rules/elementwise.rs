//! Verifier rules for elementwise operations.

use super::{Expected, Rule};
use crate::ir::{BinaryOp, ComparisonType, ElementType, UnaryOp};
use crate::shape::{binary_accepts, unary_accepts};
use crate::verify::code;

pub(super) fn unary<'a>(rule: &mut Rule<'a>, op: UnaryOp) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    let element_type = operand.element_type;
    if !unary_accepts(op, element_type) {
        return undefined(rule, element_type);
    }
    Some(Expected::Array(match op {
        UnaryOp::IsFinite => ElementType::Pred,
        UnaryOp::Abs => component(element_type),
        _ => element_type,
    }))
}

pub(super) fn binary<'a>(rule: &mut Rule<'a>, op: BinaryOp) -> Option<Expected<'a>> {
    let element_type = one_type(rule)?;
    if !binary_accepts(op, element_type) {
        return undefined(rule, element_type);
    }
    Some(Expected::Array(element_type))
}

pub(super) fn multiply_high<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let element_type = one_type(rule)?;
    if !element_type.is_integer() {
        return undefined(rule, element_type);
    }
    Some(Expected::Array(element_type))
}

pub(super) fn compare<'a>(rule: &mut Rule<'a>, order: Option<ComparisonType>) -> Option<Expected<'a>> {
    let Some(t) = one_type(rule) else { return Some(Expected::Array(ElementType::Pred)) };
    let fits = match order {
        None => true,
        Some(ComparisonType::Float) => t.is_float() || t.is_complex(),
        Some(ComparisonType::TotalOrder) => t.is_float(),
        Some(ComparisonType::Signed) => t.is_signed(),
        Some(ComparisonType::Unsigned) => t.is_unsigned() || t == ElementType::Pred,
    };
    if let Some(order) = order.filter(|_| !fits) {
        rule.report(code::ATTRIBUTE, format!("type={} does not order elements of type {t}", order.name()));
    }
    Some(Expected::Array(ElementType::Pred))
}

pub(super) fn select<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [condition, on_true, _] = rule.arrays()?;
    if condition.element_type != ElementType::Pred {
        rule.report(code::ELEMENT_TYPE, format!("operand 0 of select must be pred and is {}", condition.element_type));
    }
    rule.typed_as(2, 1);
    Some(Expected::Array(on_true.element_type))
}

pub(super) fn clamp<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [_, operand, _] = rule.arrays()?;
    rule.typed_as(0, 1);
    rule.typed_as(2, 1);
    Some(Expected::Array(operand.element_type))
}

pub(super) fn convert<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    let declared = rule.declared_array()?;
    if operand.element_type.is_complex() && !declared.element_type.is_complex() {
        let message = format!("convert does not turn {} into {}", operand.element_type, declared.element_type);
        rule.report(code::ELEMENT_TYPE, message);
    }
    Some(Expected::Open)
}

/// One element of the wider type is made of several of the narrower.
pub(super) fn bitcast_convert<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    let declared = rule.declared_array()?;
    let (from, to) = (operand.element_type, declared.element_type);
    let (wide, narrow) = (from.bits().max(to.bits()), from.bits().min(to.bits()));
    if from.is_complex() != to.is_complex() || !wide.is_multiple_of(narrow) {
        rule.refuse(code::ELEMENT_TYPE, format!("bitcast-convert does not turn {from} into {to}"));
        return None;
    }
    Some(Expected::Open)
}

pub(super) fn stochastic_convert<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand, random] = rule.arrays()?;
    let declared = rule.declared_array()?;
    if rule.typed(0, ElementType::is_float, "a float type") {
        let bits = operand.element_type.bits();
        if !random.element_type.is_unsigned() || random.element_type.bits() != bits {
            let message = format!(
                "operand 1 of stochastic-convert must be unsigned integers of {bits} bits, as the elements of operand \
                 0, and is {random}"
            );
            rule.report(code::ELEMENT_TYPE, message);
        }
    }
    if !(declared.element_type.is_float() || declared.element_type.is_integer()) {
        let message = format!("stochastic-convert yields floats or integers, not {}", declared.element_type);
        rule.report(code::ELEMENT_TYPE, message);
    }
    Some(Expected::Open)
}

pub(super) fn reduce_precision<'a>(rule: &mut Rule<'a>, exponent: i64, mantissa: i64) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.typed(0, ElementType::is_float, "a float type");
    if exponent < 1 {
        rule.attribute(format!("exponent_bits must be at least 1 and is {exponent}"));
    }
    if mantissa < 0 {
        rule.attribute(format!("mantissa_bits must be at least 0 and is {mantissa}"));
    }
    Some(Expected::Array(operand.element_type))
}

pub(super) fn complex<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    match one_type(rule)? {
        ElementType::F32 => Some(Expected::Array(ElementType::C64)),
        ElementType::F64 => Some(Expected::Array(ElementType::C128)),
        other => undefined(rule, other),
    }
}

pub(super) fn part<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    let element_type = operand.element_type;
    if !(element_type.is_float() || element_type.is_complex()) {
        return undefined(rule, element_type);
    }
    Some(Expected::Array(component(element_type)))
}

/// The type of the parts of a complex number; of other types the type itself.
pub(super) fn component(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}

/// The type of two operands, which must have the same.
fn one_type(rule: &mut Rule<'_>) -> Option<ElementType> {
    let [left, right] = rule.arrays()?;
    if left.element_type == right.element_type {
        return Some(left.element_type);
    }
    let message = format!(
        "the operands of {} must have one element type, and have {} and {}",
        rule.name(),
        left.element_type,
        right.element_type
    );
    rule.report(code::ELEMENT_TYPE, message);
    None
}

fn undefined<'a>(rule: &mut Rule<'a>, element_type: ElementType) -> Option<Expected<'a>> {
    let message = format!("{} is not defined for {element_type}", rule.name());
    rule.report(code::ELEMENT_TYPE, message);
    None
}
