//! Products of which one dimension is cut into groups, whose sizes are values of the program.
//!
//! Which group an index belongs to, if any, is known only at run time, so the maps to the factors are coarse: they
//! lead to what may be read for any group.

use weft_affine::Interval;

use super::context::{InstructionContext, OperationMaps, dim, index};
use super::product::{Contraction, dot};
use super::{Dependence, Relation, Undefined};

/// Two factors and the sizes of groups. A row of the left factor is multiplied by the right one's entry for its group;
/// where what is summed over is cut, the result has a first dimension for the groups.
pub(super) fn ragged_dot(
    context: &InstructionContext<'_>,
    contraction: &Contraction<'_>,
    ragged: &[i64],
    group_dims: &[i64],
) -> OperationMaps {
    let is_cut = |dimensions: &[i64]| dimensions.iter().any(|own| ragged.contains(own));
    if is_cut(contraction.lhs_batch) {
        let mut found = dot(context, contraction)?;
        // A batch is multiplied on its own whatever its group.
        found.push(context.on(0, 2, Relation::Maps(Vec::new())));
        return Ok(found);
    }
    let first = usize::from(is_cut(contraction.lhs_contracting));
    let factor = |is_left: bool| {
        let pairs = contraction.pairs(context, is_left, if is_left { &[] } else { group_dims }, first);
        context.coarse(0, usize::from(!is_left), &pairs, "which group an index belongs to is known only at run time")
    };
    let mut found: Vec<Dependence> = [true, false].map(factor).into();
    found.push(sizes(context, contraction, ragged, first)?);
    Ok(found)
}

/// The sizes of groups: one list, or one for each index of the left operand's dimensions outside of the ragged one.
/// `first` is the number of the result's dimensions for groups.
fn sizes(
    context: &InstructionContext<'_>,
    contraction: &Contraction<'_>,
    ragged: &[i64],
    first: usize,
) -> Result<Dependence, Undefined> {
    let (left, sizes) = (context.operand(0), context.operand(2));
    if left.contains(&0) || context.operand(1).contains(&0) {
        return Ok(context.on(0, 2, Relation::Maps(Vec::new())));
    }
    let batch = contraction.lhs_batch.iter().map(|&own| index(own));
    let pairs = contraction.pairs(context, true, &[], first);
    let candidates: Vec<usize> = if first == 1 {
        contraction.lhs_contracting.iter().map(|&own| index(own)).collect()
    } else {
        pairs.iter().skip(contraction.lhs_batch.len()).map(|(_, own)| *own).collect()
    };
    let is_ragged = |dimension: usize| ragged.iter().any(|&own| index(own) == dimension);
    let outside: Vec<usize> = batch.chain(candidates.into_iter().take_while(|&own| !is_ragged(own))).collect();
    let last = sizes.len().saturating_sub(1);
    if last > 0 && !outside.iter().map(|&own| left[own]).eq(sizes[..last].iter().copied()) {
        return Ok(context.coarse(0, 2, &[], "which indices have groups of their own is the target's choice"));
    }
    let place = |(dimension, own): (usize, &usize)| {
        let (result, _) = pairs.iter().find(|(_, other)| other == own)?;
        Some((*result, dimension))
    };
    let pairs: Vec<(usize, usize)> = outside.iter().take(last).enumerate().filter_map(place).collect();
    let mut map = context.matched_map(0, 2, &pairs);
    if first == 1 {
        // A group begins where those before it end.
        let ends = if context.is_backward() {
            (Some(dim(0)), map.results().last().cloned())
        } else {
            (map.results().first().cloned(), Some(dim(last)))
        };
        if let (Some(group), Some(size)) = ends {
            map.add_constraint(group.checked_sub(&size)?, Interval::of_extent(sizes[last]))?;
        }
    }
    Ok(context.on(0, 2, map))
}
