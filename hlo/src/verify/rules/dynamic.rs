//! Operations on extents that are known at run time only.

use super::{Expected, Rule};
use crate::ir::ElementType;
use crate::verify::code;

pub(super) fn get_dimension_size<'a>(rule: &mut Rule<'a>, dimension: i64) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.dimension("dimensions", dimension, operand.rank(), "an operand");
    Some(Expected::Scalar(ElementType::S32))
}

pub(super) fn set_dimension_size<'a>(rule: &mut Rule<'a>, dimension: i64) -> Option<Expected<'a>> {
    let [operand, _] = rule.arrays()?;
    rule.dimension("dimensions", dimension, operand.rank(), "an operand");
    rule.scalar(1, ElementType::S32);
    Some(Expected::Array(operand.element_type))
}

/// The operands after the first are the extents of the result.
pub(super) fn dynamic_reshape<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    rule.at_least(1)?;
    let operand = rule.array(0)?;
    let declared = rule.declared_array()?;
    if let Some(sizes) = rule.all_arrays(1) {
        for position in 1..=sizes.len() {
            rule.scalar(position, ElementType::S32);
        }
        if sizes.len() != declared.rank() {
            let (rank, given) = (declared.rank(), sizes.len());
            let message = format!(
                "dynamic-reshape takes one size for each of the {rank} dimensions of {declared} and has {given}"
            );
            rule.refuse(code::OPERAND_COUNT, message);
        }
    }
    Some(Expected::Array(operand.element_type))
}
