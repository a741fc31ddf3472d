//! Indexing maps of operations whose elements depend on whole lines, matrices or features: reduce, sort, topk, fft, scan, batch
//! normalization, cholesky, triangular-solve.

use super::context::{InstructionContext, OperationMaps, dim, index};
use super::{Dependence, ElementMap, Relation};
use weft_affine::Interval;

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

/// Of an operand, scales and offsets: the operand normalized, and the means and variances of its features.
pub(super) fn batch_norm_training(context: &InstructionContext<'_>, feature: i64) -> OperationMaps {
    let feature = index(feature);
    let of_scales = |operand| context.matched(0, operand, &[(feature, 0)]);
    let statistics = |result| context.matched(result, 0, &[(0, feature)]);
    Ok(vec![context.matched(0, 0, &[(feature, feature)]), of_scales(1), of_scales(2), statistics(1), statistics(2)])
}

/// Of an operand, scales, offsets, means and variances.
pub(super) fn batch_norm_inference(context: &InstructionContext<'_>, feature: i64) -> OperationMaps {
    let of_feature = |operand| context.matched(0, operand, &[(index(feature), 0)]);
    Ok(std::iter::once(context.same(0, 0)).chain((1..context.operands()).map(of_feature)).collect())
}

/// Of an operand, scales, means, variances and the gradient by the result: the gradients by the operand, by the scales
/// and by the offsets. Sums over a feature are part of the first; the second has no factor that is a scale, and the
/// third is the sum of the result's gradient.
pub(super) fn batch_norm_gradient(context: &InstructionContext<'_>, feature: i64) -> OperationMaps {
    let feature = index(feature);
    let all = |operand| context.matched(0, operand, &[(feature, feature)]);
    let one = |operand| context.matched(0, operand, &[(feature, 0)]);
    let summed = |result, operand| context.matched(result, operand, &[(0, feature)]);
    let same = |result, operand| context.matched(result, operand, &[(0, 0)]);
    let by_operand = [all(0), one(1), one(2), one(3), all(4)];
    let by_others = [summed(1, 0), same(1, 2), same(1, 3), summed(1, 4), summed(2, 4)];
    Ok(by_operand.into_iter().chain(by_others).collect())
}

/// The dimensions before those of the matrices.
fn batch(context: &InstructionContext<'_>) -> Vec<(usize, usize)> {
    let count = context.result(0).len().saturating_sub(2);
    (0..count).map(|dimension| (dimension, dimension)).collect()
}

/// Any element of a factor tells that its matrix has one. The map is coarse: it leads to whole matrices, of which only a triangle
/// counts.
pub(super) fn cholesky(context: &InstructionContext<'_>) -> OperationMaps {
    Ok(vec![context.coarse(0, 0, &batch(context), "one triangle of the matrix is not read")])
}

/// Columns of the unknown, or its rows where the matrix stands on the right, are solved each on its own. The maps are coarse:
/// they lead to whole matrices and whole lines of right-hand sides.
pub(super) fn triangular_solve(context: &InstructionContext<'_>, left_side: bool) -> OperationMaps {
    let batch = batch(context);
    let own = if left_side { batch.len() + 1 } else { batch.len() };
    let of_unknown = [&batch[..], &[(own, own)]].concat();
    let reason = "substitution reads a triangle, and no further than to the element";
    Ok(vec![context.coarse(0, 0, &batch, reason), context.coarse(0, 1, &of_unknown, reason)])
}
