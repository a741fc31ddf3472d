//! Simplification of iota under operations that move elements.

use super::extents::{differ_in_ones, moved};
use super::filled::filled_with;
use super::number::range;
use super::{array, extents};
use crate::ir::{ElementType, InstrId, Instruction, Op, SliceDimension};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// Along a dimension of extent 1 there is nothing to count.
pub(super) fn iota(rebuild: &mut Rebuild<'_>, candidate: &Instruction, dimension: i64) -> Option<Rule> {
    let extent = *candidate.shape.as_array()?.extents.get(usize::try_from(dimension).ok()?)?;
    if extent != 1 {
        return None;
    }
    Some(("iota = 0 along a dimension of extent 1", filled_with(rebuild, candidate, 0)?))
}

/// The dimension that an array counts along.
pub(super) fn counts_along(rebuild: &Rebuild<'_>, id: InstrId) -> Option<usize> {
    match rebuild.get(id).op {
        Op::Iota { dimension } => usize::try_from(dimension).ok(),
        _ => None,
    }
}

fn along(dimension: usize) -> Option<Rewrite> {
    Some(Rewrite::Op(Op::Iota { dimension: i64::try_from(dimension).ok()? }, Vec::new()))
}

/// A broadcast that takes the operand's dimensions to `dimensions`.
pub(super) fn broadcast(rebuild: &Rebuild<'_>, operand: InstrId, dimensions: &[usize]) -> Option<Rule> {
    let dimension = *dimensions.get(counts_along(rebuild, operand)?)?;
    Some(("broadcast(iota) = iota", along(dimension)?))
}

pub(super) fn transpose(rebuild: &Rebuild<'_>, operand: InstrId, permutation: &[usize]) -> Option<Rule> {
    let counted = counts_along(rebuild, operand)?;
    let dimension = permutation.iter().position(|&source| source == counted)?;
    Some(("transpose(iota) = iota", along(dimension)?))
}

pub(super) fn reshape(rebuild: &Rebuild<'_>, candidate: &Instruction, operand: InstrId) -> Option<Rule> {
    let counted = counts_along(rebuild, operand)?;
    let (from, to) = (extents(rebuild, operand)?, &candidate.shape.as_array()?.extents);
    let dimension = moved(&from, to, counted).filter(|_| differ_in_ones(&from, to))?;
    Some(("reshape(iota) = iota", along(dimension)?))
}

pub(super) fn slice(rebuild: &Rebuild<'_>, operand: InstrId, parts: &[SliceDimension]) -> Option<Rule> {
    let counted = counts_along(rebuild, operand)?;
    let part = parts.get(counted)?;
    if part.start != 0 || part.stride != 1 {
        return None;
    }
    Some(("slice(iota) = iota", along(counted)?))
}

pub(super) fn reverse(rebuild: &Rebuild<'_>, operand: InstrId, dimensions: &[usize]) -> Option<Rule> {
    let counted = counts_along(rebuild, operand)?;
    (!dimensions.contains(&counted)).then_some(("reverse(iota) = iota", Rewrite::Value(operand)))
}

/// An integer is converted as it is counted, unless it has wrapped around.
pub(super) fn converted_iota(rebuild: &Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let counted = counts_along(rebuild, operand)?;
    let source = array(rebuild, operand)?;
    let (_, greatest) = range(source.element_type)?;
    let target = candidate.shape.as_array()?.element_type;
    let is_counted = target.is_integer() && target.bits() >= 8
        || matches!(target, ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64);
    let is_whole = i128::from(*source.extents.get(counted)?) - 1 <= greatest;
    if !is_counted || !is_whole {
        return None;
    }
    Some(("convert(iota) = iota", along(counted)?))
}
