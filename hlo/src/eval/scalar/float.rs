//! `f32`.
//!
//! Transcendental functions are computed in `f64` and rounded, which leaves them within one unit in the last place.

use super::erf::erf;
use crate::ir::{BinaryOp, ComparisonDirection, UnaryOp};

/// The function, computed in `f64`.
macro_rules! rounded {
    (|$x:ident| $value:expr) => {
        |x: f32| {
            let $x = f64::from(x);
            ($value) as f32
        }
    };
}

pub(super) fn unary(op: UnaryOp) -> Option<fn(f32) -> f32> {
    Some(match op {
        UnaryOp::Abs => f32::abs,
        UnaryOp::Acos => rounded!(|x| x.acos()),
        UnaryOp::Acosh => rounded!(|x| x.acosh()),
        UnaryOp::Asin => rounded!(|x| x.asin()),
        UnaryOp::Asinh => rounded!(|x| x.asinh()),
        UnaryOp::Atanh => rounded!(|x| x.atanh()),
        UnaryOp::Cbrt => rounded!(|x| x.cbrt()),
        UnaryOp::Ceil => f32::ceil,
        UnaryOp::Cosine => rounded!(|x| x.cos()),
        UnaryOp::Cosh => rounded!(|x| x.cosh()),
        UnaryOp::Erf => erf,
        UnaryOp::Exponential => rounded!(|x| x.exp()),
        UnaryOp::ExponentialMinusOne => rounded!(|x| x.exp_m1()),
        UnaryOp::Floor => f32::floor,
        UnaryOp::Log => rounded!(|x| x.ln()),
        UnaryOp::LogPlusOne => rounded!(|x| x.ln_1p()),
        UnaryOp::Logistic => rounded!(|x| 1.0 / (1.0 + (-x).exp())),
        UnaryOp::Negate => |x| -x,
        UnaryOp::RoundNearestAfz => f32::round,
        UnaryOp::RoundNearestEven => f32::round_ties_even,
        UnaryOp::Rsqrt => rounded!(|x| 1.0 / x.sqrt()),
        // The sign of a zero is that zero, of a NaN that NaN.
        UnaryOp::Sign => |x| if x == 0.0 || x.is_nan() { x } else { 1f32.copysign(x) },
        UnaryOp::Sine => rounded!(|x| x.sin()),
        UnaryOp::Sinh => rounded!(|x| x.sinh()),
        UnaryOp::Sqrt => f32::sqrt,
        UnaryOp::Tan => rounded!(|x| x.tan()),
        UnaryOp::Tanh => rounded!(|x| x.tanh()),
        UnaryOp::CountLeadingZeros | UnaryOp::IsFinite | UnaryOp::Not | UnaryOp::PopulationCount => return None,
    })
}

pub(super) fn binary(op: BinaryOp) -> Option<fn(f32, f32) -> f32> {
    Some(match op {
        BinaryOp::Add => |a, b| a + b,
        BinaryOp::Atan2 => |a, b| f64::from(a).atan2(f64::from(b)) as f32,
        BinaryOp::Divide => |a, b| a / b,
        BinaryOp::Maximum => maximum,
        BinaryOp::Minimum => minimum,
        BinaryOp::Multiply => |a, b| a * b,
        BinaryOp::Power => |a, b| f64::from(a).powf(f64::from(b)) as f32,
        // C's fmod: exact, with the sign of the dividend.
        BinaryOp::Remainder => |a, b| a % b,
        BinaryOp::Subtract => |a, b| a - b,
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRightArithmetic
        | BinaryOp::ShiftRightLogical
        | BinaryOp::Xor => return None,
    })
}

/// IEEE 754's `maximum`: a NaN wins, and of zeros of both signs the positive one.
fn maximum(a: f32, b: f32) -> f32 {
    if a == b {
        // Equal numbers have equal bits, but for zeros of both signs: there a sign bit is left only where both have it.
        f32::from_bits(a.to_bits() & b.to_bits())
    } else if a > b || a.is_nan() {
        a
    } else {
        b
    }
}

/// IEEE 754's `minimum`: a NaN wins, and of zeros of both signs the negative one.
fn minimum(a: f32, b: f32) -> f32 {
    if a == b {
        f32::from_bits(a.to_bits() | b.to_bits())
    } else if a < b || a.is_nan() {
        a
    } else {
        b
    }
}

/// The order of IEEE 754's `totalOrder`: -NaN, -inf, …, -0, +0, …, inf, NaN.
pub(super) fn total_order(direction: ComparisonDirection) -> fn(f32, f32) -> bool {
    match direction {
        ComparisonDirection::Eq => |a, b| a.total_cmp(&b).is_eq(),
        ComparisonDirection::Ne => |a, b| a.total_cmp(&b).is_ne(),
        ComparisonDirection::Ge => |a, b| a.total_cmp(&b).is_ge(),
        ComparisonDirection::Gt => |a, b| a.total_cmp(&b).is_gt(),
        ComparisonDirection::Le => |a, b| a.total_cmp(&b).is_le(),
        ComparisonDirection::Lt => |a, b| a.total_cmp(&b).is_lt(),
    }
}
