//! Slices whose starts are computed: those of the whole, and those with constant starts.

use super::filled::splat;
use super::number::number;
use super::slice::{part, sliced};
use super::{array, extents};
use crate::ir::{InstrId, Instruction, Op};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

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
