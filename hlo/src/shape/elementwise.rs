//! Operations that work element by element: one extent list for all.

use super::{Findings, Operation, refuse, show};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArrayShape, BinaryOp, ComparisonType, ElementType, Shape, UnaryOp};
use crate::verify::code;

/// Whether `op` is defined for elements of `element_type`.
pub fn unary_accepts(op: UnaryOp, element_type: ElementType) -> bool {
    let t = element_type;
    match op {
        UnaryOp::Abs | UnaryOp::Sign => t.is_signed() || t.is_float() || t.is_complex(),
        UnaryOp::Negate => t.is_integer() || t.is_float() || t.is_complex(),
        UnaryOp::Ceil | UnaryOp::Floor | UnaryOp::RoundNearestAfz | UnaryOp::RoundNearestEven => t.is_float(),
        UnaryOp::Erf | UnaryOp::IsFinite => t.is_float(),
        UnaryOp::CountLeadingZeros | UnaryOp::PopulationCount => t.is_integer(),
        UnaryOp::Not => t == ElementType::Pred || t.is_integer(),
        UnaryOp::Acos
        | UnaryOp::Acosh
        | UnaryOp::Asin
        | UnaryOp::Asinh
        | UnaryOp::Atanh
        | UnaryOp::Cbrt
        | UnaryOp::Cosine
        | UnaryOp::Cosh
        | UnaryOp::Exponential
        | UnaryOp::ExponentialMinusOne
        | UnaryOp::Log
        | UnaryOp::LogPlusOne
        | UnaryOp::Logistic
        | UnaryOp::Rsqrt
        | UnaryOp::Sine
        | UnaryOp::Sinh
        | UnaryOp::Sqrt
        | UnaryOp::Tan
        | UnaryOp::Tanh => t.is_float() || t.is_complex(),
    }
}

/// Whether `op` is defined for elements of `element_type`.
///
/// `add` and `multiply` of `pred` are "or" and "and"; `maximum` and `minimum` order false before true.
pub fn binary_accepts(op: BinaryOp, element_type: ElementType) -> bool {
    let t = element_type;
    match op {
        BinaryOp::Add | BinaryOp::Multiply => true,
        BinaryOp::Subtract | BinaryOp::Divide | BinaryOp::Power => t != ElementType::Pred,
        BinaryOp::Remainder => t.is_integer() || t.is_float(),
        BinaryOp::Atan2 => t.is_float() || t.is_complex(),
        BinaryOp::Maximum | BinaryOp::Minimum => !t.is_complex(),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => t == ElementType::Pred || t.is_integer(),
        BinaryOp::ShiftLeft | BinaryOp::ShiftRightArithmetic | BinaryOp::ShiftRightLogical => t.is_integer(),
    }
}

pub(super) fn unary(operation: &Operation<'_>, op: UnaryOp) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    if !unary_accepts(op, operand.element_type) {
        return undefined_for(operation, operand.element_type);
    }
    let element_type = match (op, operand.element_type) {
        (UnaryOp::IsFinite, _) => ElementType::Pred,
        (UnaryOp::Abs, ElementType::C64) => ElementType::F32,
        (UnaryOp::Abs, ElementType::C128) => ElementType::F64,
        (_, element_type) => element_type,
    };
    Ok(like(operand, element_type))
}

pub(super) fn binary(operation: &Operation<'_>, op: BinaryOp) -> Result<Shape, Diagnostics> {
    let [left, right] = operation.arrays()?;
    let mut findings = Findings::default();
    same(&mut findings, operation, left, right);
    if !binary_accepts(op, left.element_type) {
        findings.add(code::ELEMENT_TYPE, undefined_text(operation, left.element_type));
    }
    findings.unless_any(like(left, left.element_type))
}

pub(super) fn compare(operation: &Operation<'_>, order: Option<ComparisonType>) -> Result<Shape, Diagnostics> {
    let [left, right] = operation.arrays()?;
    let mut findings = Findings::default();
    same(&mut findings, operation, left, right);
    let t = left.element_type;
    let fits = match order {
        None => true,
        Some(ComparisonType::Float) => t.is_float() || t.is_complex(),
        Some(ComparisonType::TotalOrder) => t.is_float(),
        Some(ComparisonType::Signed) => t.is_signed(),
        Some(ComparisonType::Unsigned) => t.is_unsigned() || t == ElementType::Pred,
    };
    if let Some(order) = order.filter(|_| !fits) {
        findings.add(code::ATTRIBUTE, format!("type={} does not order elements of type {t}", order.name()));
    }
    findings.unless_any(like(left, ElementType::Pred))
}

pub(super) fn select(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [condition, on_true, on_false] = operation.arrays()?;
    let mut findings = Findings::default();
    if condition.element_type != ElementType::Pred {
        findings.add(code::ELEMENT_TYPE, format!("operand 0 of select must be pred and is {}", condition.element_type));
    }
    if condition.rank() != 0 && condition.extents != on_true.extents {
        findings.add(
            code::EXTENTS,
            format!(
                "operand 0 of select must be a scalar or have the extents {} of operand 1, and has {}",
                show(&on_true.extents),
                show(&condition.extents)
            ),
        );
    }
    if !on_true.same_type_and_extents(on_false) {
        findings.add(
            code::EXTENTS,
            format!("operands 1 and 2 of select must have one shape, and are {on_true} and {on_false}"),
        );
    }
    findings.unless_any(like(on_true, on_true.element_type))
}

pub(super) fn clamp(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [low, operand, high] = operation.arrays()?;
    let mut findings = Findings::default();
    if operand.element_type.is_complex() {
        findings.add(code::ELEMENT_TYPE, undefined_text(operation, operand.element_type));
    }
    for (position, bound) in [(0, low), (2, high)] {
        let fits = bound.rank() == 0 || bound.extents == operand.extents;
        if !fits || bound.element_type != operand.element_type {
            findings.add(
                code::EXTENTS,
                format!(
                    "operand {position} of clamp must be a scalar or an array like operand 1, {operand}, and is {bound}"
                ),
            );
        }
    }
    findings.unless_any(like(operand, operand.element_type))
}

pub(super) fn convert(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [operand] = operation.arrays()?;
    let declared = operation.declared_array()?;
    if operand.element_type.is_complex() && !declared.element_type.is_complex() {
        return refuse(
            code::ELEMENT_TYPE,
            format!("convert does not turn {} into {}", operand.element_type, declared.element_type),
        );
    }
    Ok(like(operand, declared.element_type))
}

fn same(findings: &mut Findings, operation: &Operation<'_>, left: &ArrayShape, right: &ArrayShape) {
    let opcode = operation.op.opcode();
    if left.element_type != right.element_type {
        findings.add(
            code::ELEMENT_TYPE,
            format!(
                "the operands of {opcode} must have one element type, and have {} and {}",
                left.element_type, right.element_type
            ),
        );
    }
    if left.extents != right.extents {
        findings.add(
            code::EXTENTS,
            format!(
                "the operands of {opcode} must have the same extents, and have {} and {}",
                show(&left.extents),
                show(&right.extents)
            ),
        );
    }
}

fn undefined_text(operation: &Operation<'_>, element_type: ElementType) -> String {
    format!("{} is not defined for {element_type}", operation.op.opcode())
}

fn undefined_for(operation: &Operation<'_>, element_type: ElementType) -> Result<Shape, Diagnostics> {
    refuse(code::ELEMENT_TYPE, undefined_text(operation, element_type))
}

fn like(shape: &ArrayShape, element_type: ElementType) -> Shape {
    Shape::Array(ArrayShape { element_type, layout: None, ..shape.clone() })
}
