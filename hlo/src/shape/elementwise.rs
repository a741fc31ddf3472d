//! Operations that work element by element: the types of their elements.

use super::{Findings, Operation, refuse};
use crate::diagnostic::Diagnostics;
use crate::ir::{BinaryOp, ComparisonType, ElementType, Shape, UnaryOp};
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
    operation.array_of(element_type)
}

pub(super) fn binary(operation: &Operation<'_>, op: BinaryOp) -> Result<Shape, Diagnostics> {
    let [left, right] = operation.arrays()?;
    let mut findings = Findings::default();
    same_types(&mut findings, operation, left.element_type, right.element_type);
    if !binary_accepts(op, left.element_type) {
        findings.add(code::ELEMENT_TYPE, undefined_text(operation, left.element_type));
    }
    findings.and(operation.array_of(left.element_type))
}

pub(super) fn compare(operation: &Operation<'_>, order: Option<ComparisonType>) -> Result<Shape, Diagnostics> {
    let [left, right] = operation.arrays()?;
    let mut findings = Findings::default();
    same_types(&mut findings, operation, left.element_type, right.element_type);
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
    findings.and(operation.array_of(ElementType::Pred))
}

pub(super) fn select(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [condition, on_true, on_false] = operation.arrays()?;
    let mut findings = Findings::default();
    if condition.element_type != ElementType::Pred {
        findings.add(code::ELEMENT_TYPE, format!("operand 0 of select must be pred and is {}", condition.element_type));
    }
    same_types(&mut findings, operation, on_true.element_type, on_false.element_type);
    findings.and(operation.array_of(on_true.element_type))
}

pub(super) fn clamp(operation: &Operation<'_>) -> Result<Shape, Diagnostics> {
    let [low, operand, high] = operation.arrays()?;
    let mut findings = Findings::default();
    if operand.element_type.is_complex() {
        findings.add(code::ELEMENT_TYPE, undefined_text(operation, operand.element_type));
    }
    for bound in [low, high] {
        same_types(&mut findings, operation, bound.element_type, operand.element_type);
    }
    findings.and(operation.array_of(operand.element_type))
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
    operation.array_of(declared.element_type)
}

fn same_types(findings: &mut Findings, operation: &Operation<'_>, left: ElementType, right: ElementType) {
    if left != right {
        let opcode = operation.op.opcode();
        findings.add(
            code::ELEMENT_TYPE,
            format!("the operands of {opcode} must have one element type, and have {left} and {right}"),
        );
    }
}

fn undefined_text(operation: &Operation<'_>, element_type: ElementType) -> String {
    format!("{} is not defined for {element_type}", operation.op.opcode())
}

fn undefined_for(operation: &Operation<'_>, element_type: ElementType) -> Result<Shape, Diagnostics> {
    refuse(code::ELEMENT_TYPE, undefined_text(operation, element_type))
}
