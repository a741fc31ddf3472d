//! `s32`.

use crate::ir::{BinaryOp, UnaryOp};

pub(super) fn unary(op: UnaryOp) -> Option<fn(i32) -> i32> {
    Some(match op {
        UnaryOp::Abs => i32::wrapping_abs,
        UnaryOp::CountLeadingZeros => |a| a.leading_zeros() as i32,
        UnaryOp::Negate => i32::wrapping_neg,
        UnaryOp::Not => |a| !a,
        UnaryOp::PopulationCount => |a| a.count_ones() as i32,
        UnaryOp::Sign => i32::signum,
        _ => return None,
    })
}

pub(super) fn binary(op: BinaryOp) -> Option<fn(i32, i32) -> i32> {
    Some(match op {
        BinaryOp::Add => i32::wrapping_add,
        BinaryOp::And => |a, b| a & b,
        BinaryOp::Divide => |a, b| if b == 0 { -1 } else { a.wrapping_div(b) },
        BinaryOp::Maximum => i32::max,
        BinaryOp::Minimum => i32::min,
        BinaryOp::Multiply => i32::wrapping_mul,
        BinaryOp::Or => |a, b| a | b,
        BinaryOp::Power => power,
        BinaryOp::Remainder => |a, b| if b == 0 { a } else { a.wrapping_rem(b) },
        // A negative amount is, as XLA reads it, a large one.
        BinaryOp::ShiftLeft => |a, by| a.checked_shl(by as u32).unwrap_or(0),
        BinaryOp::ShiftRightArithmetic => |a, by| a >> (by as u32).min(31),
        BinaryOp::ShiftRightLogical => |a, by| (a as u32).checked_shr(by as u32).unwrap_or(0) as i32,
        BinaryOp::Subtract => i32::wrapping_sub,
        BinaryOp::Xor => |a, b| a ^ b,
        BinaryOp::Atan2 => return None,
    })
}

/// A negative exponent gives 0, unless the base is its own inverse.
fn power(base: i32, exponent: i32) -> i32 {
    match (u32::try_from(exponent), base) {
        (Ok(exponent), _) => base.wrapping_pow(exponent),
        (Err(_), 1) => 1,
        (Err(_), -1) => 1 - 2 * (exponent & 1),
        (Err(_), _) => 0,
    }
}
