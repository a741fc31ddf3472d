//! Products of operands that are scaled block by block.

use weft_affine::Expr;

use super::context::{InstructionContext, OperationMaps, dim};
use super::product::{Contraction, dot};
use super::window::MapBuilder;
use super::{Dependence, Relation, Undefined};

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
