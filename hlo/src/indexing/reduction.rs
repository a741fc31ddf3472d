//! Reductions along whole dimensions: reduce, and operations whose elements depend on whole lines: sort, topk, fft.

use super::context::{InstructionContext, OperationMaps, index};

/// Of `n` inputs and `n` initial values. Every result depends on all of them alike, since one computation combines them.
pub(super) fn reduce(context: &InstructionContext<'_>, reduced: &[i64]) -> OperationMaps {
    let inputs = context.operands() / 2;
    let rank = if inputs > 0 { context.operand(0).len() } else { 0 };
    let kept = (0..rank).filter(|&dimension| !reduced.iter().any(|&own| index(own) == dimension));
    let pairs: Vec<(usize, usize)> = kept.enumerate().collect();
    let each = |result: usize| (0..context.operands()).map(move |operand| (result, operand));
    let found = (0..context.results()).flat_map(each);
    let pairs_of = |operand: usize| if operand < inputs { pairs.as_slice() } else { &[] };
    Ok(found.map(|(result, operand)| context.matched(result, operand, pairs_of(operand))).collect())
}

/// Every element depends on all operands along its line, since all of them are given to the comparator.
pub(super) fn sort(context: &InstructionContext<'_>, along: i64) -> OperationMaps {
    let other = (0..context.operand(0).len()).filter(|&dimension| dimension != index(along));
    let pairs: Vec<(usize, usize)> = other.map(|dimension| (dimension, dimension)).collect();
    let each = |result: usize| (0..context.operands()).map(move |operand| (result, operand));
    let found = (0..context.results()).flat_map(each).map(|(result, operand)| match context.operands() {
        1 => context.matched(result, operand, &pairs),
        _ => context.coarse(result, operand, &pairs, "what the comparator does not look at is only moved"),
    });
    Ok(found.collect())
}

/// Values and indices depend on the whole of the last dimension.
pub(super) fn top_k(context: &InstructionContext<'_>) -> OperationMaps {
    let pairs = before_last(context, 1);
    Ok((0..context.results()).map(|result| context.matched(result, 0, &pairs)).collect())
}

/// Every element depends on all that is transformed, the last dimensions.
pub(super) fn fft(context: &InstructionContext<'_>, lengths: &[i64]) -> OperationMaps {
    Ok(vec![context.matched(0, 0, &before_last(context, lengths.len()))])
}

/// The dimensions of operand and result before so many last ones.
fn before_last(context: &InstructionContext<'_>, count: usize) -> Vec<(usize, usize)> {
    (0..context.operand(0).len().saturating_sub(count)).map(|dimension| (dimension, dimension)).collect()
}
