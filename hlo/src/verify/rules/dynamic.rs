//! Operations on extents that are known at run time only.

use super::{Expected, Rule};
use crate::ir::ElementType;

pub(super) fn get_dimension_size<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.arrays::<1>()?;
    Some(Expected::Array(ElementType::S32))
}

pub(super) fn set_dimension_size<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand, _] = rule.arrays()?;
    rule.of_type(1, ElementType::S32);
    Some(Expected::Array(operand.element_type))
}

/// The operands after the first are the extents of the result.
pub(super) fn dynamic_reshape<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operand = rule.array(0)?;
    rule.declared_array()?;
    if let Some(sizes) = rule.all_arrays(1) {
        for position in 1..=sizes.len() {
            rule.of_type(position, ElementType::S32);
        }
    }
    Some(Expected::Array(operand.element_type))
}
