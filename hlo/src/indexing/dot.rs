//! Indexing maps of dot, ragged-dot and scaled-dot.

use super::context::{InstructionContext, OperationMaps, dim, index};
use super::window::MapBuilder;
use super::{Dependence, Relation, Undefined};
use weft_affine::{Expr, Interval};

/// Dimension numbers of a dot.
pub(super) struct Contraction<'a> {
    pub(super) lhs_batch: &'a [i64],
    pub(super) lhs_contracting: &'a [i64],
    pub(super) rhs_batch: &'a [i64],
    pub(super) rhs_contracting: &'a [i64],
}

impl Contraction<'_> {
    /// The result's dimensions with the dimension of an operand that each is: batch dimensions first, then those of the left
    /// operand, then those of the right. `dropped` are dimensions of the operand that the result does not have, `first` is
    /// the number of the result's dimensions before those.
    pub(super) fn pairs(
        &self,
        context: &InstructionContext<'_>,
        is_left: bool,
        dropped: &[i64],
        first: usize,
    ) -> Vec<(usize, usize)> {
        let (batch, contracting) =
            if is_left { (self.lhs_batch, self.lhs_contracting) } else { (self.rhs_batch, self.rhs_contracting) };
        let rank = context.operand(usize::from(!is_left)).len();
        let bound = || batch.iter().chain(contracting).chain(dropped);
        let free = (0..rank).filter(|&dimension| !bound().any(|&own| index(own) == dimension));
        let before = if is_left { batch.len() } else { context.operand(0).len() - self.lhs_contracting.len() };
        let batch = (first..).zip(batch.iter().map(|&own| index(own)));
        batch.chain((first + before..).zip(free)).collect()
    }
}

/// Contracted dimensions are run over.
pub(super) fn dot(context: &InstructionContext<'_>, contraction: &Contraction<'_>) -> OperationMaps {
    let factor =
        |is_left: bool| context.matched(0, usize::from(!is_left), &contraction.pairs(context, is_left, &[], 0));
    Ok([true, false].map(factor).into())
}

/// Two factors and the sizes of groups. A row of the left factor is multiplied by the right one's entry for its group;
/// where what is summed over is cut, the result has a first dimension for the groups. Which group an index belongs to is
/// known only at run time, so the maps to the factors are coarse: they lead to what may be read for any group.
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

/// Two factors and the scales of each.
pub(super) fn scaled_dot(context: &InstructionContext<'_>, contraction: &Contraction<'_>) -> OperationMaps {
    let mut found = dot(context, contraction)?;
    for is_left in [true, false] {
        found.push(scales(context, contraction, is_left)?);
    }
    Ok(found)
}

/// A scale goes with a block of elements, of as many along each dimension as go into the operand's extent for each
/// scale; a scalar scales the whole operand.
fn scales(
    context: &InstructionContext<'_>,
    contraction: &Contraction<'_>,
    is_left: bool,
) -> Result<Dependence, Undefined> {
    let operand = usize::from(!is_left);
    let position = operand + 2;
    let (scaled, scales) = (context.operand(operand), context.operand(position));
    if scaled.contains(&0) {
        return Ok(context.on(0, position, Relation::Maps(Vec::new())));
    }
    if scales.is_empty() {
        return Ok(context.all(0, position));
    }
    if scaled.iter().zip(scales).any(|(extent, count)| *count < 1 || extent % count != 0) {
        return Ok(context.coarse(0, position, &[], "which elements go with a scale is the target's choice"));
    }
    let pairs = contraction.pairs(context, is_left, &[], 0);
    let block = |dimension: usize| scaled[dimension] / scales[dimension];
    let map = if context.is_backward() {
        let mut draft = MapBuilder::new(context.result(0));
        let of = |dimension: usize| {
            let count = scales[dimension];
            match pairs.iter().find(|(_, own)| *own == dimension) {
                Some(_) if count == 1 => Ok(Expr::constant(0)),
                Some(&(result, _)) => dim(result).checked_floor_div(block(dimension)),
                None => Ok(draft.run(count)),
            }
        };
        let index = (0..scales.len()).map(of).collect::<Result<_, _>>()?;
        draft.to(index)?
    } else {
        let mut draft = MapBuilder::new(scales);
        let of = |(result, &extent): (usize, &i64)| match pairs.iter().find(|(own, _)| *own == result) {
            Some(&(_, dimension)) => draft.run(block(dimension)).checked_add_scaled(&dim(dimension), block(dimension)),
            None => Ok(draft.run(extent)),
        };
        let index = context.result(0).iter().enumerate().map(of).collect::<Result<_, _>>()?;
        draft.to(index)?
    };
    Ok(context.on(0, position, map))
}
