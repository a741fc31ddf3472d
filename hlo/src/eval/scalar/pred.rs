//! `pred`.

use crate::ir::BinaryOp;

pub(super) fn binary(op: BinaryOp) -> Option<fn(bool, bool) -> bool> {
    Some(match op {
        BinaryOp::Add | BinaryOp::Maximum | BinaryOp::Or => |a, b| a | b,
        BinaryOp::And | BinaryOp::Minimum | BinaryOp::Multiply => |a, b| a & b,
        BinaryOp::Xor => |a, b| a ^ b,
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
