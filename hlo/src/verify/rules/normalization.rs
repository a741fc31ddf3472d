//! Batch normalization.

use super::{Expected, Rule};
use crate::ir::ElementType;

/// `batch-norm-training`: the operand, scale and offset.
pub(super) fn training<'a>(rule: &mut Rule<'a>, feature_index: i64) -> Option<Expected<'a>> {
    operands::<3>(rule, feature_index, 1..3)?;
    let feature = rule.operands[1];
    Some(Expected::Tuple(vec![Expected::Same(rule.operands[0]), Expected::Same(feature), Expected::Same(feature)]))
}

/// `batch-norm-inference`: the operand, scale, offset, mean and variance.
pub(super) fn inference<'a>(rule: &mut Rule<'a>, feature_index: i64) -> Option<Expected<'a>> {
    operands::<5>(rule, feature_index, 1..5)?;
    Some(Expected::Same(rule.operands[0]))
}

/// `batch-norm-grad`: the operand, scale, mean, variance and the gradient of the result.
pub(super) fn gradient<'a>(rule: &mut Rule<'a>, feature_index: i64) -> Option<Expected<'a>> {
    let operand = operands::<5>(rule, feature_index, 1..4)?;
    rule.typed_as(4, 0);
    rule.ranked(4, operand, " as operand 0");
    let feature = rule.operands[1];
    Some(Expected::Tuple(vec![Expected::Same(rule.operands[0]), Expected::Same(feature), Expected::Same(feature)]))
}

/// Checks the operand and those that have one element for each feature; the operand's rank.
fn operands<const COUNT: usize>(
    rule: &mut Rule<'_>,
    feature_index: i64,
    features: std::ops::Range<usize>,
) -> Option<usize> {
    let operand = rule.arrays::<COUNT>()?[0];
    rule.typed(0, ElementType::is_float, "a float type");
    rule.dimension("feature_index", feature_index, operand.rank(), "an operand");
    for position in features {
        rule.typed_as(position, 0);
        rule.ranked(position, 1, "");
    }
    Some(operand.rank())
}
