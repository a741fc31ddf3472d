//! Simplification of pads.

use super::filled::{copies, splat};
use super::slice::{part, sliced};
use super::{array, extents};
use crate::ir::{InstrId, Instruction, Op, PadDimension};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn pad(rebuild: &mut Rebuild<'_>, candidate: &Instruction, padding: &[PadDimension]) -> Option<Rule> {
    let &[operand, value] = &candidate.operands[..] else { return None };
    let from = extents(rebuild, operand)?;
    let to = &candidate.shape.as_array()?.extents;
    // Between the elements of a dimension that has one there is nothing.
    let is_interior = |padding: &PadDimension, from: i64| padding.interior != 0 && from > 1;
    let mut dimensions = padding.iter().zip(&from);
    if dimensions.clone().all(|(padding, &from)| (padding.low, padding.high) == (0, 0) && !is_interior(padding, from)) {
        return Some(("pad(x, v) = x by nothing", Rewrite::Value(operand)));
    }
    if from.contains(&0) {
        return Some(("pad(x, v) = broadcast(v) where x has no elements", copies(candidate, value)));
    }
    if dimensions.all(|(padding, &from)| padding.low <= 0 && padding.high <= 0 && !is_interior(padding, from)) {
        let parts = padding.iter().zip(to).map(|(padding, &extent)| part(padding.low.checked_neg()?, extent, Some(1)));
        let slice = sliced(parts.collect::<Option<_>>()?);
        return Some(("pad(x, v) = slice(x) by negative numbers", Rewrite::Op(slice, vec![operand])));
    }
    let inner = rebuild.get(operand);
    match &inner.op {
        Op::Pad { padding: first } => {
            let &[source, inner_value] = &inner.operands[..] else { return None };
            if !is_same(rebuild, inner_value, value) {
                return None;
            }
            let both = first.iter().zip(padding).map(|(first, second)| together(*first, *second));
            let pad = Op::Pad { padding: both.collect::<Option<_>>()? };
            Some(("pad(pad(x, v), v) = pad(x, v)", Rewrite::Op(pad, vec![source, value])))
        }
        Op::Broadcast { .. } => {
            let &source = inner.operands.first()?;
            let is_filled = array(rebuild, source)?.rank() == 0 && is_same(rebuild, source, value);
            is_filled.then(|| ("pad(broadcast(v), v) = broadcast(v)", copies(candidate, value)))
        }
        _ => None,
    }
}

/// Whether two scalars are one, or equal constants.
fn is_same(rebuild: &Rebuild<'_>, a: InstrId, b: InstrId) -> bool {
    a == b || splat(rebuild, a).is_some_and(|value| splat(rebuild, b) == Some(value))
}

/// Both paddings as one. An element that the first one drops must not come back by the second, and the second must not
/// pull apart what the first one has put in.
fn together(first: PadDimension, second: PadDimension) -> Option<PadDimension> {
    let is_one = |first: i64, second: i64| first >= 0 || second <= 0;
    if second.interior != 0 || !is_one(first.low, second.low) || !is_one(first.high, second.high) {
        return None;
    }
    Some(PadDimension {
        low: first.low.checked_add(second.low)?,
        high: first.high.checked_add(second.high)?,
        interior: first.interior,
    })
}
