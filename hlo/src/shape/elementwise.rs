//! The element types that each elementwise operation is defined for.

use crate::ir::{BinaryOp, ElementType, UnaryOp};

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
/// `add` and `multiply` of `pred` are "or" and "and"; `maximum` and `minimum` order false before true. XLA's shape
/// inference lets complex numbers through everywhere here, also where there is no order of them.
pub fn binary_accepts(op: BinaryOp, element_type: ElementType) -> bool {
    let t = element_type;
    match op {
        BinaryOp::Add | BinaryOp::Multiply | BinaryOp::Maximum | BinaryOp::Minimum => true,
        BinaryOp::Subtract | BinaryOp::Divide | BinaryOp::Power | BinaryOp::Remainder => t != ElementType::Pred,
        BinaryOp::Atan2 => t.is_float() || t.is_complex(),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => t == ElementType::Pred || t.is_integer(),
        BinaryOp::ShiftLeft | BinaryOp::ShiftRightArithmetic | BinaryOp::ShiftRightLogical => t.is_integer(),
    }
}
