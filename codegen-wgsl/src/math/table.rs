//! Which call each HLO operation is, for each element type that registers have: `pred`, `s32`, `u32`, `f32`; and for `f64`, whose signs, orders
//! and conversions are found in its bits before.
//!
//! `None` means that HLO does not define the operation on that type, or that kernels do not hold the type yet.

use super::Call::{self, Builtin, Function, Identity, Keyed, Operator};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, UnaryOp};

/// How an operation of one operand is written on elements of type `ty`.
pub fn unary(op: UnaryOp, ty: ElementType) -> Option<Call> {
    match ty {
        ElementType::Pred => (op == UnaryOp::Not).then_some(Operator("!")),
        ElementType::S32 => match op {
            UnaryOp::Abs => Some(Function("abs_i32")),
            UnaryOp::Negate => Some(Function("negate_i32")),
            UnaryOp::Sign => Some(Builtin("sign")),
            _ => unary_bits(op),
        },
        ElementType::U32 => match op {
            UnaryOp::Negate => Some(Function("negate_u32")),
            _ => unary_bits(op),
        },
        ElementType::F32 => unary_f32(op),
        ElementType::F64 => unary_f64(op),
        _ => None,
    }
}

/// What `s32` and `u32` have in common.
fn unary_bits(op: UnaryOp) -> Option<Call> {
    match op {
        UnaryOp::CountLeadingZeros => Some(Builtin("countLeadingZeros")),
        UnaryOp::Not => Some(Operator("~")),
        UnaryOp::PopulationCount => Some(Builtin("countOneBits")),
        _ => None,
    }
}

fn unary_f32(op: UnaryOp) -> Option<Call> {
    Some(match op {
        UnaryOp::Abs => Builtin("abs"),
        UnaryOp::Acos => Function("acos_f32"),
        UnaryOp::Acosh => Function("acosh_f32"),
        UnaryOp::Asin => Function("asin_f32"),
        UnaryOp::Asinh => Function("asinh_f32"),
        UnaryOp::Atanh => Function("atanh_f32"),
        UnaryOp::Cbrt => Function("cbrt_f32"),
        UnaryOp::Ceil => Builtin("ceil"),
        UnaryOp::Cosine => Function("cos_f32"),
        UnaryOp::Cosh => Function("cosh_f32"),
        UnaryOp::Erf => Function("erf_f32"),
        UnaryOp::Exponential => Function("exp_f32"),
        UnaryOp::ExponentialMinusOne => Function("expm1_f32"),
        UnaryOp::Floor => Builtin("floor"),
        UnaryOp::IsFinite => Function("is_finite_f32"),
        UnaryOp::Log => Function("log_f32"),
        UnaryOp::LogPlusOne => Function("log1p_f32"),
        UnaryOp::Logistic => Function("logistic_f32"),
        UnaryOp::Negate => Operator("-"),
        UnaryOp::RoundNearestAfz => Function("round_away_f32"),
        UnaryOp::RoundNearestEven => Builtin("round"),
        UnaryOp::Rsqrt => Function("rsqrt_f32"),
        UnaryOp::Sign => Function("sign_f32"),
        UnaryOp::Sine => Function("sin_f32"),
        UnaryOp::Sinh => Function("sinh_f32"),
        UnaryOp::Sqrt => Function("sqrt_f32"),
        UnaryOp::Tan => Function("tan_f32"),
        UnaryOp::Tanh => Function("tanh_f32"),
        _ => return None,
    })
}

fn unary_f64(op: UnaryOp) -> Option<Call> {
    Some(match op {
        UnaryOp::Abs => Function("abs_f64"),
        UnaryOp::Acos => Function("acos_f64"),
        UnaryOp::Acosh => Function("acosh_f64"),
        UnaryOp::Asin => Function("asin_f64"),
        UnaryOp::Asinh => Function("asinh_f64"),
        UnaryOp::Atanh => Function("atanh_f64"),
        UnaryOp::Cbrt => Function("cbrt_f64"),
        UnaryOp::Ceil => Function("ceil_f64"),
        UnaryOp::Cosine => Function("cos_f64"),
        UnaryOp::Cosh => Function("cosh_f64"),
        UnaryOp::Erf => Function("erf_f64"),
        UnaryOp::Exponential => Function("exp_f64"),
        UnaryOp::ExponentialMinusOne => Function("expm1_f64"),
        UnaryOp::Floor => Function("floor_f64"),
        UnaryOp::IsFinite => Function("is_finite_f64"),
        UnaryOp::Log => Function("log_f64"),
        UnaryOp::LogPlusOne => Function("log1p_f64"),
        UnaryOp::Logistic => Function("logistic_f64"),
        UnaryOp::Negate => Operator("-"),
        UnaryOp::RoundNearestAfz => Function("round_away_f64"),
        UnaryOp::RoundNearestEven => Function("round_f64"),
        UnaryOp::Rsqrt => Function("rsqrt_f64"),
        UnaryOp::Sine => Function("sin_f64"),
        UnaryOp::Sinh => Function("sinh_f64"),
        UnaryOp::Sqrt => Function("sqrt_f64"),
        UnaryOp::Tan => Function("tan_f64"),
        UnaryOp::Tanh => Function("tanh_f64"),
        _ => return None,
    })
}

/// How an operation of two operands is written on elements of type `ty`.
pub fn binary(op: BinaryOp, ty: ElementType) -> Option<Call> {
    match ty {
        ElementType::Pred => match op {
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Maximum => Some(Operator("|")),
            BinaryOp::Multiply | BinaryOp::And | BinaryOp::Minimum => Some(Operator("&")),
            BinaryOp::Xor => Some(Operator("!=")),
            _ => None,
        },
        ElementType::S32 => match op {
            BinaryOp::Divide => Some(Function("divide_i32")),
            BinaryOp::Power => Some(Function("power_i32")),
            BinaryOp::Remainder => Some(Function("remainder_i32")),
            BinaryOp::ShiftLeft => Some(Function("shift_left_i32")),
            BinaryOp::ShiftRightArithmetic => Some(Function("shift_right_arithmetic_i32")),
            BinaryOp::ShiftRightLogical => Some(Function("shift_right_logical_i32")),
            _ => binary_bits(op),
        },
        ElementType::U32 => match op {
            BinaryOp::Divide => Some(Function("divide_u32")),
            BinaryOp::Power => Some(Function("power_u32")),
            BinaryOp::Remainder => Some(Function("remainder_u32")),
            BinaryOp::ShiftLeft => Some(Function("shift_left_u32")),
            BinaryOp::ShiftRightArithmetic => Some(Function("shift_right_arithmetic_u32")),
            BinaryOp::ShiftRightLogical => Some(Function("shift_right_logical_u32")),
            _ => binary_bits(op),
        },
        ElementType::F32 => match op {
            BinaryOp::Add => Some(Operator("+")),
            BinaryOp::Atan2 => Some(Function("atan2_f32")),
            BinaryOp::Divide => Some(Operator("/")),
            BinaryOp::Maximum => Some(Function("max_f32")),
            BinaryOp::Minimum => Some(Function("min_f32")),
            BinaryOp::Multiply => Some(Operator("*")),
            BinaryOp::Power => Some(Function("power_f32")),
            BinaryOp::Remainder => Some(Function("remainder_f32")),
            BinaryOp::Subtract => Some(Operator("-")),
            _ => None,
        },
        ElementType::F64 => match op {
            BinaryOp::Add => Some(Operator("+")),
            BinaryOp::Atan2 => Some(Function("atan2_f64")),
            BinaryOp::Divide => Some(Operator("/")),
            BinaryOp::Multiply => Some(Operator("*")),
            BinaryOp::Power => Some(Function("power_f64")),
            BinaryOp::Remainder => Some(Function("remainder_f64")),
            BinaryOp::Subtract => Some(Operator("-")),
            _ => None,
        },
        _ => None,
    }
}

/// What `s32` and `u32` have in common; WGSL's sums and products wrap, as HLO's do.
fn binary_bits(op: BinaryOp) -> Option<Call> {
    match op {
        BinaryOp::Add => Some(Operator("+")),
        BinaryOp::And => Some(Operator("&")),
        BinaryOp::Maximum => Some(Builtin("max")),
        BinaryOp::Minimum => Some(Builtin("min")),
        BinaryOp::Multiply => Some(Operator("*")),
        BinaryOp::Or => Some(Operator("|")),
        BinaryOp::Subtract => Some(Operator("-")),
        BinaryOp::Xor => Some(Operator("^")),
        _ => None,
    }
}

/// How `compare` is written on elements of type `ty`; its result is a `bool`.
///
/// `order` is as in HLO text: where it is absent it follows from the type, and only orders that fit the type exist.
pub fn compare(direction: ComparisonDirection, order: Option<ComparisonType>, ty: ElementType) -> Option<Call> {
    let operator = operator(direction);
    match (ty, order) {
        (ElementType::F32, None | Some(ComparisonType::Float)) => match direction {
            ComparisonDirection::Ne => Some(Function("ne_f32")),
            _ => Some(Operator(operator)),
        },
        (ElementType::F32, Some(ComparisonType::TotalOrder)) => Some(Keyed { key: "total_order_f32", operator }),
        (ElementType::F64, None | Some(ComparisonType::Float)) => match direction {
            ComparisonDirection::Ne => Some(Function("ne_f64")),
            _ => Some(Operator(operator)),
        },
        (ElementType::S32, None | Some(ComparisonType::Signed))
        | (ElementType::U32, None | Some(ComparisonType::Unsigned)) => Some(Operator(operator)),
        (ElementType::Pred, None | Some(ComparisonType::Unsigned)) => match direction {
            ComparisonDirection::Ge => Some(Function("ge_bool")),
            ComparisonDirection::Gt => Some(Function("gt_bool")),
            ComparisonDirection::Le => Some(Function("le_bool")),
            ComparisonDirection::Lt => Some(Function("lt_bool")),
            _ => Some(Operator(operator)),
        },
        _ => None,
    }
}

fn operator(direction: ComparisonDirection) -> &'static str {
    match direction {
        ComparisonDirection::Eq => "==",
        ComparisonDirection::Ne => "!=",
        ComparisonDirection::Ge => ">=",
        ComparisonDirection::Gt => ">",
        ComparisonDirection::Le => "<=",
        ComparisonDirection::Lt => "<",
    }
}

/// How `convert` is written from elements of type `from` to elements of type `to`.
pub fn convert(from: ElementType, to: ElementType) -> Option<Call> {
    use ElementType::{F32, F64, Pred, S32, U32};
    Some(match (from, to) {
        (Pred, Pred) | (S32, S32) | (U32, U32) | (F32, F32) => Identity,
        (F32, S32) => Function("f32_to_i32"),
        (F32, U32) => Function("f32_to_u32"),
        (F32, Pred) => Function("f32_to_bool"),
        (U32, F32) => Function("u32_to_f32"),
        (Pred | S32, F32) => Builtin("f32"),
        (S32, F64) => Builtin("f64"),
        (Pred | U32, S32) => Builtin("i32"),
        (Pred | S32, U32) => Builtin("u32"),
        (S32 | U32, Pred) => Builtin("bool"),
        _ => return None,
    })
}
