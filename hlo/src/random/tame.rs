//! Operands for functions of tame numbers, kept away from poles and discontinuities.

use super::body::Body;
use crate::eval::converted;
use crate::ir::{ArrayShape, BinaryOp, Data, ElementType, InstrId, Literal, Op, Shape, UnaryOp};

/// An operand that the function is smooth at: the one given where it is so, or nobody asks for tame numbers.
pub(super) fn unary(body: &mut Body<'_>, op: UnaryOp, operand: InstrId) -> Option<InstrId> {
    if !is_tame_float(body, operand) {
        return Some(operand);
    }
    match op {
        UnaryOp::Exponential | UnaryOp::ExponentialMinusOne | UnaryOp::Sinh | UnaryOp::Cosh => {
            within(body, operand, 4.0, 1.0)
        }
        UnaryOp::Sine | UnaryOp::Cosine => within(body, operand, 64.0, 1.0),
        UnaryOp::Acos | UnaryOp::Asin | UnaryOp::Atanh => within(body, operand, 0.75, 0.75),
        UnaryOp::Tan => within(body, operand, 1.0, 1.0),
        UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::Log | UnaryOp::LogPlusOne => above(body, operand, 0.25),
        UnaryOp::Cbrt => above(body, operand, 0.5),
        UnaryOp::Acosh => above(body, operand, 1.5),
        _ => Some(operand),
    }
}

/// As [`unary`], of two operands.
pub(super) fn binary(body: &mut Body<'_>, op: BinaryOp, operands: &[InstrId]) -> Option<Vec<InstrId>> {
    let &[left, right] = operands else { return None };
    if !is_tame_float(body, left) {
        return Some(operands.to_vec());
    }
    Some(match op {
        BinaryOp::Divide => vec![left, above(body, right, 0.5)?],
        BinaryOp::Remainder => vec![left, above(body, right, 1.0)?],
        BinaryOp::Atan2 => vec![above(body, left, 0.5)?, right],
        BinaryOp::Power => vec![above(body, left, 0.5)?, within(body, right, 1.0, 1.0)?],
        _ => operands.to_vec(),
    })
}

/// Integers that `f32` holds.
pub(super) fn convertible(body: &mut Body<'_>, operand: InstrId) -> Option<InstrId> {
    let array = body.array_shape(operand);
    if !body.world.is_tame() || array.element_type == ElementType::F32 || body.range(operand).bound() <= 4096.0 {
        return Some(operand);
    }
    let low = if array.element_type.is_signed() { -5.0 } else { 1.0 };
    let (low, high) = (number(body, array.element_type, low)?, number(body, array.element_type, 6.0)?);
    body.emit(Op::Clamp, vec![low, operand, high], array.element_type)
}

fn is_tame_float(body: &Body<'_>, operand: InstrId) -> bool {
    body.world.is_tame() && body.array_shape(operand).element_type == ElementType::F32
}

/// `tanh(x) * scale`, unless all elements of `x` are within the bound.
fn within(body: &mut Body<'_>, operand: InstrId, bound: f64, scale: f64) -> Option<InstrId> {
    if body.range(operand).bound() <= bound {
        return Some(operand);
    }
    let squashed = body.emit(Op::Unary(UnaryOp::Tanh), vec![operand], ElementType::F32)?;
    if scale == 1.0 { Some(squashed) } else { with(body, BinaryOp::Multiply, squashed, scale) }
}

/// `abs(x) + least`, unless no element of `x` is less than that.
fn above(body: &mut Body<'_>, operand: InstrId, least: f64) -> Option<InstrId> {
    if body.range(operand).low >= least {
        return Some(operand);
    }
    let positive = body.emit(Op::Unary(UnaryOp::Abs), vec![operand], ElementType::F32)?;
    with(body, BinaryOp::Add, positive, least)
}

/// An operation of a value and one number, as a constant of its extents or a scalar that is broadcast.
fn with(body: &mut Body<'_>, op: BinaryOp, value: InstrId, number: f64) -> Option<InstrId> {
    let array = body.array_shape(value);
    let count = usize::try_from(array.element_count()?).ok()?;
    let filled = if body.world.rng.chance(40) {
        body.literal(Literal::array(array.extents, vec![number as f32; count]))
    } else {
        let scalar = body.literal(Literal::array([], vec![number as f32]));
        body.emit_as(
            Op::Broadcast { dimensions: Vec::new() },
            vec![scalar],
            Shape::Array(ArrayShape { layout: None, ..array }),
        )?
    };
    body.emit(Op::Binary(op), vec![value, filled], ElementType::F32)
}

/// A scalar constant.
fn number(body: &mut Body<'_>, element_type: ElementType, value: f64) -> Option<InstrId> {
    let data = converted(&Data::F64(vec![value]), element_type)?;
    Some(body.literal(Literal { shape: Shape::scalar(element_type), data }))
}
