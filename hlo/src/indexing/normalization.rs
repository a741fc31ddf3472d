//! Batch normalization: what belongs to one feature depends on that feature alone.

use super::context::{InstructionContext, OperationMaps, index};

/// Of an operand, scales and offsets: the operand normalized, and the means and variances of its features.
pub(super) fn training(context: &InstructionContext<'_>, feature: i64) -> OperationMaps {
    let feature = index(feature);
    let of_scales = |operand| context.matched(0, operand, &[(feature, 0)]);
    let statistics = |result| context.matched(result, 0, &[(0, feature)]);
    Ok(vec![context.matched(0, 0, &[(feature, feature)]), of_scales(1), of_scales(2), statistics(1), statistics(2)])
}

/// Of an operand, scales, offsets, means and variances.
pub(super) fn inference(context: &InstructionContext<'_>, feature: i64) -> OperationMaps {
    let of_feature = |operand| context.matched(0, operand, &[(index(feature), 0)]);
    Ok(std::iter::once(context.same(0, 0)).chain((1..context.operands()).map(of_feature)).collect())
}

/// Of an operand, scales, means, variances and the gradient by the result: the gradients by the operand, by the scales
/// and by the offsets. Sums over a feature are part of the first; the second has no factor that is a scale, and the
/// third is the sum of the result's gradient.
pub(super) fn gradient(context: &InstructionContext<'_>, feature: i64) -> OperationMaps {
    let feature = index(feature);
    let all = |operand| context.matched(0, operand, &[(feature, feature)]);
    let one = |operand| context.matched(0, operand, &[(feature, 0)]);
    let summed = |result, operand| context.matched(result, operand, &[(0, feature)]);
    let same = |result, operand| context.matched(result, operand, &[(0, 0)]);
    let by_operand = [all(0), one(1), one(2), one(3), all(4)];
    let by_others = [summed(1, 0), same(1, 2), same(1, 3), summed(1, 4), summed(2, 4)];
    Ok(by_operand.into_iter().chain(by_others).collect())
}
