//! Random elementwise operations.

use super::body::Body;
use super::movement::elsewhere;
use super::region::has_value;
use super::tame;
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, InstrId, Op, UnaryOp};
use crate::shape::unary_accepts;

pub(super) fn unary(body: &mut Body<'_>, op: UnaryOp) -> Option<InstrId> {
    let operand = body.array(|element_type| unary_accepts(op, element_type), 0)?;
    let element_type = body.array_shape(operand).element_type;
    let result = match op {
        UnaryOp::IsFinite => ElementType::Pred,
        UnaryOp::Abs => part(element_type),
        _ => element_type,
    };
    let operand = tame::unary(body, op, operand)?;
    body.emit(Op::Unary(op), vec![operand], result)
}

pub(super) fn binary(body: &mut Body<'_>, op: BinaryOp) -> Option<InstrId> {
    let (operands, element_type) = two(body, |element_type| has_value(op, element_type))?;
    let operands = tame::binary(body, op, &operands)?;
    body.emit(Op::Binary(op), operands, element_type)
}

/// Two arrays alike: often one array and its own elements in other places, rarely one array twice.
fn two(body: &mut Body<'_>, accepts: impl Fn(ElementType) -> bool) -> Option<(Vec<InstrId>, ElementType)> {
    let one = body.array(accepts, 0)?;
    let array = body.array_shape(one);
    let other = match body.world.rng.weighted(&[10, 25, 65]) {
        0 => one,
        1 => elsewhere(body, one).unwrap_or(one),
        _ => body.operand(array.element_type, &array.extents),
    };
    let operands = if body.world.rng.chance(50) { vec![one, other] } else { vec![other, one] };
    Some((operands, array.element_type))
}

/// The type of the parts of a complex number; of other types the type itself.
fn part(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}

pub(super) fn multiply_high(body: &mut Body<'_>) -> Option<InstrId> {
    let (operands, element_type) = two(body, ElementType::is_integer)?;
    body.emit(Op::MultiplyHigh, operands, element_type)
}

pub(super) fn compare(body: &mut Body<'_>) -> Option<InstrId> {
    let (operands, element_type) = two(body, |_| true)?;
    let op = comparison(body, element_type);
    body.emit(op, operands, ElementType::Pred)
}

/// Any comparison of elements of a type. Complex numbers have no order.
pub(super) fn comparison(body: &mut Body<'_>, element_type: ElementType) -> Op {
    let directions = if element_type.is_complex() { &ComparisonDirection::ALL[..2] } else { ComparisonDirection::ALL };
    let direction = body.world.rng.choose(directions).unwrap_or(ComparisonDirection::Eq);
    let orders: &[ComparisonType] = match element_type {
        t if t.is_float() => &[ComparisonType::Float, ComparisonType::TotalOrder],
        t if t.is_complex() => &[ComparisonType::Float],
        t if t.is_signed() => &[ComparisonType::Signed],
        _ => &[ComparisonType::Unsigned],
    };
    let order = if body.world.rng.chance(50) { body.world.rng.choose(orders) } else { None };
    Op::Compare { direction, order }
}

/// Extents of a further operand: those of the others, or none.
fn like_or_scalar(body: &mut Body<'_>, extents: &[i64]) -> Vec<i64> {
    if body.world.rng.chance(25) { Vec::new() } else { extents.to_vec() }
}

pub(super) fn select(body: &mut Body<'_>) -> Option<InstrId> {
    let (operands, element_type) = two(body, |_| true)?;
    let extents = body.array_shape(operands[0]).extents;
    let chooser = like_or_scalar(body, &extents);
    let chooser = body.operand(ElementType::Pred, &chooser);
    body.emit(Op::Select, vec![chooser, operands[0], operands[1]], element_type)
}

/// Of types that have an order; XLA makes `minimum` and `maximum` of it.
pub(super) fn clamp(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|element_type| !element_type.is_complex(), 0)?;
    let array = body.array_shape(operand);
    let (low, high) = (like_or_scalar(body, &array.extents), like_or_scalar(body, &array.extents));
    let (low, high) = (body.operand(array.element_type, &low), body.operand(array.element_type, &high));
    body.emit(Op::Clamp, vec![low, operand, high], array.element_type)
}

pub(super) fn convert(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(|_| true, 0)?;
    let from = body.array_shape(operand).element_type;
    let to = body.element_type(|to| to.is_complex() || !from.is_complex())?;
    let operand = if to == ElementType::F32 { tame::convertible(body, operand)? } else { operand };
    body.emit(Op::Convert, vec![operand], to)
}

pub(super) fn complex(body: &mut Body<'_>) -> Option<InstrId> {
    let (operands, element_type) =
        two(body, |element_type| matches!(element_type, ElementType::F32 | ElementType::F64))?;
    body.emit(
        Op::Complex,
        operands,
        if element_type == ElementType::F32 { ElementType::C64 } else { ElementType::C128 },
    )
}

pub(super) fn real(body: &mut Body<'_>) -> Option<InstrId> {
    component(body, Op::Real)
}

pub(super) fn imag(body: &mut Body<'_>) -> Option<InstrId> {
    component(body, Op::Imag)
}

fn component(body: &mut Body<'_>, op: Op) -> Option<InstrId> {
    let operand = body.array(|element_type| element_type.is_float() || element_type.is_complex(), 0)?;
    let element_type = part(body.array_shape(operand).element_type);
    body.emit(op, vec![operand], element_type)
}

/// To fewer bits than the type has, to as many, or to more.
pub(super) fn reduce_precision(body: &mut Body<'_>) -> Option<InstrId> {
    let operand = body.array(ElementType::is_float, 0)?;
    let element_type = body.array_shape(operand).element_type;
    let (exponent_bits, mantissa_bits) = match body.world.rng.below(3) {
        0 => (body.world.rng.between(1, 12), body.world.rng.between(0, 54)),
        1 => (body.world.rng.between(1, 6), body.world.rng.between(0, 10)),
        _ => [(8, 7), (5, 10), (8, 23), (5, 2), (4, 3)][body.world.rng.below(5)],
    };
    body.emit(Op::ReducePrecision { exponent_bits, mantissa_bits }, vec![operand], element_type)
}

/// The random bits are unsigned integers of the operand's width, which floats of six bits do not have.
pub(super) fn stochastic_convert(body: &mut Body<'_>) -> Option<InstrId> {
    let unsigned = |from: ElementType| {
        ElementType::ALL.iter().copied().find(|bits| bits.is_unsigned() && bits.bits() == from.bits())
    };
    let operand = body.array(|from| from.is_float() && unsigned(from).is_some(), 0)?;
    let array = body.array_shape(operand);
    let bits = unsigned(array.element_type)?;
    let bits = body.operand(bits, &array.extents);
    let to = body.element_type(|to| to.is_float() || to.is_integer())?;
    body.emit(Op::StochasticConvert, vec![operand, bits], to)
}
