//! Scan: a computation applied to slice after slice, that hands values on from one to the next.

use weft_affine::Interval;

use super::context::{InstructionContext, OperationMaps, dim, index};
use super::{Dependence, ElementMap, Relation};

const REASON: &str = "what each step makes of the elements it is given is not looked into";

/// The operands are inputs and, behind them, what is carried at first; the results are outputs and what was carried last.
pub(super) fn scan(context: &InstructionContext<'_>, dimension: i64, carries: i64, is_reverse: bool) -> OperationMaps {
    let (dimension, carries) = (index(dimension), index(carries));
    let inputs = context.operands().saturating_sub(carries);
    let outputs = context.results().saturating_sub(carries);
    let mut found = Vec::new();
    for result in 0..context.results() {
        for operand in 0..context.operands() {
            let length = context.operand(operand).get(dimension);
            let is_sliced = result < outputs && operand < inputs && context.result(result).get(dimension) == length;
            found.push(match length {
                Some(_) if is_sliced && carries == 0 => {
                    context.coarse(result, operand, &[(dimension, dimension)], REASON)
                }
                Some(&length) if is_sliced => up_to(context, (result, operand), (dimension, length), is_reverse)?,
                _ => context.coarse(result, operand, &[], REASON),
            });
        }
    }
    Ok(found)
}

/// The slices of an input that come no later than that of the output.
fn up_to(
    context: &InstructionContext<'_>,
    (result, operand): (usize, usize),
    (dimension, length): (usize, i64),
    is_reverse: bool,
) -> Result<Dependence, super::Undefined> {
    let mut map = context.matched_map(result, operand, &[]);
    let (from, to) = (dim(dimension), map.results()[dimension].clone());
    let (greater, lesser) = if context.is_backward() == is_reverse { (to, from) } else { (from, to) };
    map.add_constraint(greater.checked_sub(&lesser)?, Interval::of_extent(length))?;
    Ok(context.on(result, operand, Relation::Maps(vec![ElementMap::coarse(map, REASON)])))
}
