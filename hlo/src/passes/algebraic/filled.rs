//! Simplification of arrays that are empty or hold one value throughout.

use super::array;
use super::number::element;
use crate::ir::{Data, ElementType, InstrId, Instruction, Literal, Op, Scalar, Shape};
use crate::passes::build::Build;
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// Constants of at most so many elements are looked through again and again; larger ones become broadcasts of a scalar.
const MAX_LISTED: usize = 16;
/// Constants of at most so many elements are searched for NaNs.
const MAX_SEARCHED: usize = 1 << 12;
/// Operations that move elements, looked through for a constant.
const MAX_MOVES: usize = 8;

/// The one element that an array holds everywhere, if that is known. The array may have no elements.
pub(super) fn splat(rebuild: &Rebuild<'_>, id: InstrId) -> Option<Scalar> {
    let mut id = id;
    for _ in 0..MAX_MOVES {
        let instruction = rebuild.get(id);
        match &instruction.op {
            Op::Constant(literal) if literal.data.len()? <= MAX_LISTED => return literal.splat(),
            Op::Broadcast { .. } | Op::Reshape | Op::Transpose { .. } | Op::Slice { .. } | Op::Reverse { .. } => {
                id = *instruction.operands.first()?;
            }
            Op::Copy if instruction.shape.as_array().is_some() => id = *instruction.operands.first()?,
            _ => return None,
        }
    }
    None
}

/// The elements of a constant, or of one that is broadcast.
fn constant_data<'r>(rebuild: &'r Rebuild<'_>, id: InstrId) -> Option<&'r Data> {
    let instruction = rebuild.get(id);
    let instruction = match &instruction.op {
        Op::Broadcast { .. } => rebuild.get(*instruction.operands.first()?),
        _ => instruction,
    };
    match &instruction.op {
        Op::Constant(literal) => Some(&literal.data),
        _ => None,
    }
}

/// Whether this is a constant, or one that is broadcast.
pub(super) fn is_constant(rebuild: &Rebuild<'_>, id: InstrId) -> bool {
    constant_data(rebuild, id).is_some()
}

/// Whether this is a constant, or one that is broadcast, known to have no NaN.
pub(super) fn is_constant_number(rebuild: &Rebuild<'_>, id: InstrId) -> bool {
    let Some(data) = constant_data(rebuild, id) else { return false };
    match (data.element_type(), data.len()) {
        (Some(element_type), _) if super::number::is_discrete(element_type) => true,
        (_, Some(count)) if count <= MAX_SEARCHED => {
            (0..count).filter_map(|position| data.get(position)).all(|value| !super::number::number(value).is_nan())
        }
        _ => false,
    }
}

/// `candidate` as an array of one element everywhere.
pub(super) fn filled(rebuild: &mut Rebuild<'_>, candidate: &Instruction, value: Scalar) -> Rewrite {
    if candidate.shape.as_array().is_some_and(|shape| shape.rank() == 0) {
        let literal = Literal { shape: candidate.shape.clone(), data: value.into() };
        return Rewrite::Op(Op::Constant(literal), Vec::new());
    }
    let scalar = rebuild.scalar(value);
    Rewrite::Op(Op::Broadcast { dimensions: Vec::new() }, vec![scalar])
}

/// As [`filled`] with a small number; `None` where the type has no such number.
pub(super) fn filled_with(rebuild: &mut Rebuild<'_>, candidate: &Instruction, value: i8) -> Option<Rewrite> {
    let value = element(candidate.shape.as_array()?.element_type, value)?;
    Some(filled(rebuild, candidate, value))
}

/// `candidate` as copies of a scalar made already.
pub(super) fn copies(candidate: &Instruction, scalar: InstrId) -> Rewrite {
    match candidate.shape.as_array() {
        Some(shape) if shape.rank() > 0 => Rewrite::Op(Op::Broadcast { dimensions: Vec::new() }, vec![scalar]),
        _ => Rewrite::Value(scalar),
    }
}

/// An array of the extents of `like`, which has the type of the scalar, that holds the scalar everywhere.
pub(super) fn copies_like(
    rebuild: &mut Rebuild<'_>,
    element_type: ElementType,
    like: &[i64],
    scalar: InstrId,
) -> InstrId {
    if like.is_empty() {
        return scalar;
    }
    rebuild.add(Shape::array(element_type, like), Op::Broadcast { dimensions: Vec::new() }, vec![scalar])
}

/// A large constant of one element.
pub(super) fn constant(rebuild: &mut Rebuild<'_>, candidate: &Instruction, literal: &Literal) -> Option<Rule> {
    if literal.data.len()? <= MAX_LISTED {
        return None;
    }
    let value = literal.splat()?;
    Some(("constant({c, c, …}) = broadcast(c)", filled(rebuild, candidate, value)))
}

/// Arrays without elements are all alike.
pub(super) fn empty(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let shape = candidate.shape.as_array()?;
    if !shape.extents.contains(&0) || !only_gives_a_value(&candidate.op) {
        return None;
    }
    let is_filled =
        matches!(candidate.op, Op::Broadcast { .. }) && array(rebuild, *candidate.operands.first()?)?.rank() == 0;
    if is_filled {
        return None;
    }
    let value = element(shape.element_type, 0).or_else(|| element(shape.element_type, 1))?;
    Some(("an array without elements is a broadcast", filled(rebuild, candidate, value)))
}

fn only_gives_a_value(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare { .. }
            | Op::Select
            | Op::Clamp
            | Op::Convert
            | Op::BitcastConvert
            | Op::ReducePrecision { .. }
            | Op::Complex
            | Op::Real
            | Op::Imag
            | Op::Iota { .. }
            | Op::Broadcast { .. }
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Reverse { .. }
            | Op::Concatenate { .. }
            | Op::Pad { .. }
            | Op::DynamicSlice { .. }
            | Op::DynamicUpdateSlice
            | Op::Gather { .. }
            | Op::Dot { .. }
            | Op::Convolution { .. }
            | Op::Reduce { .. }
            | Op::ReduceWindow { .. }
    )
}
