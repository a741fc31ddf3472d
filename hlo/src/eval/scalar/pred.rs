//! Element semantics of `pred`.

use super::function::{of_one, of_two};
use super::{Binary, Number, Unary};
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, UnaryOp};

pub(super) fn unary(op: UnaryOp) -> Option<Unary<bool>> {
    match op {
        UnaryOp::Not => Some(of_one!(|a: bool| !a)),
        _ => None,
    }
}

pub(super) fn binary(op: BinaryOp) -> Option<Binary<bool>> {
    Some(match op {
        BinaryOp::Add | BinaryOp::Maximum | BinaryOp::Or => of_two!(|a: bool, b: bool| a | b),
        BinaryOp::And | BinaryOp::Minimum | BinaryOp::Multiply => of_two!(|a: bool, b: bool| a & b),
        BinaryOp::Xor => of_two!(|a: bool, b: bool| a ^ b),
        BinaryOp::Atan2
        | BinaryOp::Divide
        | BinaryOp::Power
        | BinaryOp::Remainder
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRightArithmetic
        | BinaryOp::ShiftRightLogical
        | BinaryOp::Subtract => return None,
    })
}

pub(super) fn relation(direction: ComparisonDirection, _: Option<ComparisonType>) -> Option<Binary<bool, bool>> {
    Some(ordered(direction))
}

/// The type's own order. Every relation of a NaN is false, but that it differs.
pub(super) fn ordered<T: PartialOrd + Copy + 'static>(direction: ComparisonDirection) -> Binary<T, bool> {
    match direction {
        ComparisonDirection::Eq => of_two!(|a: T, b: T| a == b),
        ComparisonDirection::Ne => of_two!(|a: T, b: T| a != b),
        ComparisonDirection::Ge => of_two!(|a: T, b: T| a >= b),
        ComparisonDirection::Gt => of_two!(|a: T, b: T| a > b),
        ComparisonDirection::Le => of_two!(|a: T, b: T| a <= b),
        ComparisonDirection::Lt => of_two!(|a: T, b: T| a < b),
    }
}

pub(super) fn number(a: bool) -> Number {
    Number::Integer(i128::from(a))
}

pub(super) fn of(value: Number) -> bool {
    value.is_nonzero()
}
