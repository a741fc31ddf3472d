//! Batch normalization.

use super::{Expected, Rule};
use crate::ir::ElementType;

/// `batch-norm-training`: the operand, scale and offset.
pub(super) fn training<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    operands::<3>(rule)?;
    let feature = rule.operands[1];
    Some(Expected::Tuple(vec![Expected::Same(rule.operands[0]), Expected::Same(feature), Expected::Same(feature)]))
}

/// `batch-norm-inference`: the operand, scale, offset, mean and variance.
pub(super) fn inference<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    operands::<5>(rule)?;
    Some(Expected::Same(rule.operands[0]))
}

/// `batch-norm-grad`: the operand, scale, mean, variance and the gradient of the result.
pub(super) fn gradient<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    operands::<5>(rule)?;
    let feature = rule.operands[1];
    Some(Expected::Tuple(vec![Expected::Same(rule.operands[0]), Expected::Same(feature), Expected::Same(feature)]))
}

/// Checks that all operands are arrays of one type of float.
fn operands<const COUNT: usize>(rule: &mut Rule<'_>) -> Option<()> {
    rule.arrays::<COUNT>()?;
    rule.typed(0, ElementType::is_float, "a float type");
    for position in 1..COUNT {
        rule.typed_as(position, 0);
    }
    Some(())
}
