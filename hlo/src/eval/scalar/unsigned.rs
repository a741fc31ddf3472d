//! `u32`.

use crate::ir::{BinaryOp, UnaryOp};

pub(super) fn unary(op: UnaryOp) -> Option<fn(u32) -> u32> {
    Some(match op {
        UnaryOp::CountLeadingZeros => u32::leading_zeros,
        UnaryOp::Negate => u32::wrapping_neg,
        UnaryOp::Not => |a| !a,
        UnaryOp::PopulationCount => u32::count_ones,
        _ => return None,
    })
}

pub(super) fn binary(op: BinaryOp) -> Option<fn(u32, u32) -> u32> {
    Some(match op {
        BinaryOp::Add => u32::wrapping_add,
        BinaryOp::And => |a, b| a & b,
        BinaryOp::Divide => |a, b| a.checked_div(b).unwrap_or(u32::MAX),
        BinaryOp::Maximum => u32::max,
        BinaryOp::Minimum => u32::min,
        BinaryOp::Multiply => u32::wrapping_mul,
        BinaryOp::Or => |a, b| a | b,
        BinaryOp::Power => u32::wrapping_pow,
        BinaryOp::Remainder => |a, b| a.checked_rem(b).unwrap_or(a),
        BinaryOp::ShiftLeft => |a, by| a.checked_shl(by).unwrap_or(0),
        BinaryOp::ShiftRightArithmetic => |a, by| ((a as i32) >> by.min(31)) as u32,
        BinaryOp::ShiftRightLogical => |a, by| a.checked_shr(by).unwrap_or(0),
        BinaryOp::Subtract => u32::wrapping_sub,
        BinaryOp::Xor => |a, b| a ^ b,
        BinaryOp::Atan2 => return None,
    })
}
