//! Range analysis of integer arrays.

use super::filled::splat;
use super::number::{number, range as range_of};
use super::{array, extents};
use crate::ir::{BinaryOp, InstrId, Op};
use crate::passes::rebuild::Rebuild;

/// How many operations deep a range is looked for.
const MAX_DEPTH: usize = 4;

/// The least and the greatest integer that an element may be; `None` for arrays of other types.
pub(super) fn range(rebuild: &Rebuild<'_>, id: InstrId) -> Option<(i128, i128)> {
    range_within(rebuild, id, MAX_DEPTH)
}

fn range_within(rebuild: &Rebuild<'_>, id: InstrId, depth: usize) -> Option<(i128, i128)> {
    let element_type = array(rebuild, id)?.element_type;
    let whole = range_of(element_type)?;
    if let Some(value) = splat(rebuild, id).and_then(|value| number(value).integer()) {
        return Some((value, value));
    }
    let Some(depth) = depth.checked_sub(1) else { return Some(whole) };
    let found = known(rebuild, id, depth);
    // What does not fit into the type wraps around, and may be anything.
    Some(found.filter(|(low, high)| whole.0 <= *low && *high <= whole.1).unwrap_or(whole))
}

/// The range that follows from the operation, before anything wraps around.
fn known(rebuild: &Rebuild<'_>, id: InstrId, depth: usize) -> Option<(i128, i128)> {
    let instruction = rebuild.get(id);
    let of = |position: usize| range_within(rebuild, *instruction.operands.get(position)?, depth);
    match &instruction.op {
        Op::Broadcast { .. }
        | Op::Reshape
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::Copy => of(0),
        Op::Convert => of(0),
        Op::Iota { dimension } => {
            let extent = *extents(rebuild, id)?.get(usize::try_from(*dimension).ok()?)?;
            Some((0, (i128::from(extent) - 1).max(0)))
        }
        Op::Select => {
            let (a, b) = (of(1)?, of(2)?);
            Some((a.0.min(b.0), a.1.max(b.1)))
        }
        // min(max(low, x), high)
        Op::Clamp => {
            let (low, x, high) = (of(0)?, of(1)?, of(2)?);
            Some((low.0.max(x.0).min(high.0), low.1.max(x.1).min(high.1)))
        }
        Op::Binary(op) => {
            let (a, b) = (of(0)?, of(1)?);
            let is_pred = array(rebuild, id)?.element_type == crate::ir::ElementType::Pred;
            match op {
                BinaryOp::Maximum => Some((a.0.max(b.0), a.1.max(b.1))),
                BinaryOp::Minimum => Some((a.0.min(b.0), a.1.min(b.1))),
                BinaryOp::Add if !is_pred => Some((a.0 + b.0, a.1 + b.1)),
                BinaryOp::Subtract => Some((a.0 - b.1, a.1 - b.0)),
                // Neither side has a sign.
                BinaryOp::And if a.0 >= 0 && b.0 >= 0 => Some((0, a.1.min(b.1))),
                BinaryOp::Remainder if a.0 >= 0 && b.0 > 0 => Some((0, a.1.min(b.1 - 1))),
                _ => None,
            }
        }
        _ => None,
    }
}
