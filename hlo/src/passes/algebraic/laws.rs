//! The neutral and absorbing elements of each binary operation.

use super::number::{Number, has_negative_zero, is_discrete, number, range};
use crate::ir::{BinaryOp, ElementType, Scalar};

/// Whether the operands may change places.
pub(super) fn is_commutative(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Add | And | Maximum | Minimum | Multiply | Or | Xor)
}

/// Whether `x op x = x`.
pub(super) fn is_idempotent(op: BinaryOp, element_type: ElementType) -> bool {
    use BinaryOp::*;
    match op {
        And | Maximum | Minimum | Or => true,
        // On pred these are "or" and "and".
        Add | Multiply => element_type == ElementType::Pred,
        _ => false,
    }
}

/// Whether operands may be grouped and ordered at will.
pub(super) fn is_exact(op: BinaryOp, element_type: ElementType) -> bool {
    is_commutative(op) && is_discrete(element_type)
}

/// Whether operands may be grouped at will, in their order: `maximum` and `minimum` of floats give the first NaN.
pub(super) fn is_associative(op: BinaryOp, element_type: ElementType) -> bool {
    is_exact(op, element_type) || matches!(op, BinaryOp::Maximum | BinaryOp::Minimum)
}

/// Whether `x op c = x` for every `x`; if `op` is commutative, then `c op x = x` as well.
pub(super) fn is_neutral(op: BinaryOp, c: Scalar) -> bool {
    use BinaryOp::*;
    let element_type = c.element_type();
    match number(c) {
        Number::Integer(value) => match op {
            Add | Subtract | Or | Xor | ShiftLeft | ShiftRightArithmetic | ShiftRightLogical => value == 0,
            Multiply | Divide | Power => value == 1,
            Maximum => range(element_type).is_some_and(|(least, _)| value == least),
            Minimum => range(element_type).is_some_and(|(_, greatest)| value == greatest),
            And => Some(value) == all_ones(element_type),
            Atan2 | Remainder => false,
        },
        Number::Real(value) => match op {
            // -0 + 0 is 0, -0 + -0 is -0.
            Add => value == 0.0 && (value.is_sign_negative() || !has_negative_zero(element_type)),
            Subtract => value == 0.0 && value.is_sign_positive(),
            // A power keeps the value of a NaN and not its sign.
            Multiply | Divide => value == 1.0,
            Maximum => value == f64::NEG_INFINITY,
            Minimum => value == f64::INFINITY,
            _ => false,
        },
        // A product with 1 + 0i multiplies by the 0 too, which makes NaNs of infinities.
        Number::Complex(real, imaginary) => match op {
            Add => [real, imaginary].iter().all(|part| *part == 0.0 && part.is_sign_negative()),
            Subtract => [real, imaginary].iter().all(|part| *part == 0.0 && part.is_sign_positive()),
            _ => false,
        },
    }
}

/// Whether `x op c = c` for every `x`.
pub(super) fn absorbs(op: BinaryOp, c: Scalar) -> bool {
    use BinaryOp::*;
    let element_type = c.element_type();
    let Number::Integer(value) = number(c) else { return false };
    match op {
        And | Multiply => value == 0,
        Or => Some(value) == all_ones(element_type),
        Maximum => range(element_type).is_some_and(|(_, greatest)| value == greatest),
        Minimum => range(element_type).is_some_and(|(least, _)| value == least),
        Add => element_type == ElementType::Pred && value == 1,
        _ => false,
    }
}

/// Whether `c op x = c` for every `x`, beyond what follows from [`absorbs`].
pub(super) fn absorbs_from_the_left(op: BinaryOp, c: Scalar) -> bool {
    use BinaryOp::*;
    let Number::Integer(value) = number(c) else { return false };
    match op {
        ShiftLeft | ShiftRightLogical => value == 0,
        // Copies of the sign bit.
        ShiftRightArithmetic => value == 0 || Some(value) == all_ones(c.element_type()),
        // The remainder by 0 is the dividend.
        Remainder => value == 0,
        Power => value == 1,
        _ => false,
    }
}

/// The integer whose bits are all ones, and true.
pub(super) fn all_ones(element_type: ElementType) -> Option<i128> {
    let (least, greatest) = range(element_type)?;
    Some(if least < 0 { -1 } else { greatest })
}
