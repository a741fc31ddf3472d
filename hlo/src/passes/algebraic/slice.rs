//! Simplification of slices.

use super::extents::positions;
use super::filled::{copies, splat};
use super::number::number;
use super::{array, extents, iota};
use crate::ir::{InstrId, Instruction, Op, PadDimension, Shape, SliceDimension};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// Operands of a concatenation that each of its slices is searched for.
const MAX_JOINED: usize = 1 << 10;

pub(super) fn slice(rebuild: &mut Rebuild<'_>, candidate: &Instruction, parts: &[SliceDimension]) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let from = extents(rebuild, operand)?;
    let to = candidate.shape.as_array()?.extents.clone();
    if from == to {
        return Some(("slice(x) = x of all of it", Rewrite::Value(operand)));
    }
    let inner = rebuild.get(operand);
    let operands = inner.operands.clone();
    match &inner.op {
        Op::Slice { dimensions } => {
            let parts = dimensions.iter().zip(parts).zip(&to).map(|((first, second), &extent)| {
                let start = first.start.checked_add(second.start.checked_mul(first.stride)?)?;
                part(start, extent, first.stride.checked_mul(second.stride))
            });
            Some(("slice(slice(x)) = slice(x)", Rewrite::Op(sliced(parts.collect::<Option<_>>()?), operands)))
        }
        Op::Concatenate { dimension } => {
            let dimension = usize::try_from(*dimension).ok()?;
            of_concatenate(rebuild, &operands, dimension, parts, &to)
        }
        Op::Pad { padding } => {
            let padding = padding.clone();
            of_pad(rebuild, candidate, &operands, &padding, parts)
        }
        Op::Broadcast { dimensions } => {
            let dimensions = positions(dimensions)?;
            of_broadcast(rebuild, &to, *operands.first()?, &dimensions, parts)
        }
        Op::Iota { .. } => iota::slice(rebuild, operand, parts),
        _ => None,
    }
}

pub(super) fn sliced(dimensions: Vec<SliceDimension>) -> Op {
    Op::Slice { dimensions }
}

/// The part with this start, extent and distance; the distance of one element is 1.
pub(super) fn part(start: i64, extent: i64, stride: Option<i64>) -> Option<SliceDimension> {
    let stride = if extent <= 1 { 1 } else { stride? };
    let last = start.checked_add(stride.checked_mul(extent.checked_sub(1)?)?)?;
    Some(SliceDimension { start, limit: last.checked_add(1)?, stride })
}

/// What lies within one operand of a concatenation.
fn of_concatenate(
    rebuild: &Rebuild<'_>,
    operands: &[InstrId],
    dimension: usize,
    parts: &[SliceDimension],
    to: &[i64],
) -> Option<Rule> {
    let joined = parts.get(dimension)?;
    let canonical = part(joined.start, *to.get(dimension)?, Some(joined.stride))?;
    let mut begin = 0i64;
    for &operand in operands.iter().take(MAX_JOINED) {
        let extent = *array(rebuild, operand)?.extents.get(dimension)?;
        let end = begin.checked_add(extent)?;
        if begin <= canonical.start && canonical.limit <= end {
            let mut parts = parts.to_vec();
            *parts.get_mut(dimension)? =
                SliceDimension { start: canonical.start - begin, limit: canonical.limit - begin, ..canonical };
            return Some(("slice(concatenate(x, y)) = slice(x)", Rewrite::Op(sliced(parts), vec![operand])));
        }
        begin = end;
    }
    None
}

/// What lies within the operand of a pad, or wholly beside it.
fn of_pad(
    rebuild: &Rebuild<'_>,
    candidate: &Instruction,
    operands: &[InstrId],
    padding: &[PadDimension],
    parts: &[SliceDimension],
) -> Option<Rule> {
    let &[x, value] = operands else { return None };
    let from = extents(rebuild, x)?;
    let to = &candidate.shape.as_array()?.extents;
    let mut inside = Some(Vec::with_capacity(parts.len()));
    for (((padding, kept), &extent), &source) in padding.iter().zip(parts).zip(to).zip(&from) {
        let kept = part(kept.start, extent, Some(kept.stride))?;
        // Element i of the operand lies at low + i * step.
        let step = padding.interior.checked_add(1)?;
        let (first, last) = (kept.start.checked_sub(padding.low)?, (kept.limit - 1).checked_sub(padding.low)?);
        let end = step.checked_mul(source.checked_sub(1)?)?;
        if last < 0 || first > end {
            return Some(("slice(pad(x, v)) = broadcast(v) beside x", copies(candidate, value)));
        }
        let is_aligned = first % step == 0 && (extent == 1 || kept.stride % step == 0);
        inside = inside.filter(|_| first >= 0 && last <= end && is_aligned).and_then(|mut inside: Vec<_>| {
            inside.push(part(first / step, extent, Some(kept.stride / step))?);
            Some(inside)
        });
    }
    Some(("slice(pad(x, v)) = slice(x) within x", Rewrite::Op(sliced(inside?), vec![x])))
}

/// Repeated elements are repeated less often; others are cut before they are repeated.
fn of_broadcast(
    rebuild: &mut Rebuild<'_>,
    to: &[i64],
    source: InstrId,
    dimensions: &[usize],
    parts: &[SliceDimension],
) -> Option<Rule> {
    let shape = array(rebuild, source)?.clone();
    let parts = dimensions.iter().map(|&dimension| parts.get(dimension).copied()).collect::<Option<Vec<_>>>()?;
    let kept = dimensions.iter().map(|&dimension| to.get(dimension).copied()).collect::<Option<Vec<_>>>()?;
    let smaller = if kept == shape.extents {
        source
    } else {
        rebuild.add(Shape::array(shape.element_type, kept), sliced(parts), vec![source])
    };
    let broadcast = Op::Broadcast { dimensions: super::extents::numbers(dimensions.iter().copied()) };
    Some(("slice(broadcast(x)) = broadcast(slice(x))", Rewrite::Op(broadcast, vec![smaller])))
}

pub(super) fn dynamic_slice(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let (&operand, starts) = candidate.operands.split_first()?;
    let (from, to) = (extents(rebuild, operand)?, &candidate.shape.as_array()?.extents);
    if from == *to {
        return Some(("dynamic-slice(x) = x of all of it", Rewrite::Value(operand)));
    }
    let starts = constant_starts(rebuild, starts, &from, to)?;
    let parts = starts.into_iter().zip(to).map(|(start, &extent)| part(start, extent, Some(1)));
    let slice = sliced(parts.collect::<Option<_>>()?);
    Some(("dynamic-slice(x, c) = slice(x)", Rewrite::Op(slice, vec![operand])))
}

/// Starts that are constants or can only be 0, moved to where the slice is within the array.
fn constant_starts(rebuild: &Rebuild<'_>, starts: &[InstrId], from: &[i64], to: &[i64]) -> Option<Vec<i64>> {
    if starts.len() != from.len() {
        return None;
    }
    let start = |((&id, from), to): ((&InstrId, &i64), &i64)| {
        let most = from.checked_sub(*to)?;
        if most == 0 {
            return Some(0);
        }
        let start = number(splat(rebuild, id).filter(|_| array(rebuild, id).is_some_and(|start| start.rank() == 0))?);
        i64::try_from(start.integer()?.clamp(0, i128::from(most))).ok()
    };
    starts.iter().zip(from).zip(to).map(start).collect()
}

pub(super) fn dynamic_update_slice(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let &[operand, update, ref starts @ ..] = &candidate.operands[..] else { return None };
    let (from, part) = (extents(rebuild, operand)?, extents(rebuild, update)?);
    if from == part {
        return Some(("dynamic-update-slice(x, y) = y of all of x", Rewrite::Value(update)));
    }
    if part.contains(&0) {
        return Some(("dynamic-update-slice(x, y) = x where y has no elements", Rewrite::Value(operand)));
    }
    let inner = rebuild.get(update);
    let is_same = matches!(inner.op, Op::DynamicSlice { .. })
        && inner.operands.split_first().is_some_and(|(&sliced, at)| sliced == operand && at == starts);
    is_same.then_some(("dynamic-update-slice(x, dynamic-slice(x, i), i) = x", Rewrite::Value(operand)))
}
