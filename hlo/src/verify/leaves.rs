//! Single shapes: whether they can exist, and whether rules cover them.

use super::code;
use crate::ir::{ArrayShape, ElementType, Instruction, Shape};

/// Why an array of this shape cannot exist.
pub(super) fn fault(leaf: &Shape) -> Option<(&'static str, String)> {
    let array = leaf.as_array()?;
    if let Some(extent) = array.extents.iter().find(|&&extent| extent < 0) {
        return Some((code::SHAPE, format!("an extent is at least 0, and one of {array} is {extent}")));
    }
    if array.element_count().is_none() {
        return Some((code::SHAPE, format!("{array} has more elements than 64 bits count")));
    }
    let marks = &array.dynamic;
    if marks.iter().any(|&dimension| dimension >= array.rank()) || marks.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Some((code::SHAPE, format!("the dynamic dimensions {marks:?} do not fit rank {}", array.rank())));
    }
    let layout = array.layout.as_ref()?;
    let mut seen = vec![false; array.rank()];
    let distinct = layout
        .minor_to_major
        .iter()
        .all(|&dimension| seen.get_mut(dimension).is_some_and(|seen| !std::mem::replace(seen, true)));
    if distinct && layout.minor_to_major.len() == array.rank() {
        return None;
    }
    Some((code::LAYOUT, format!("the layout {layout} is no permutation of {} dimensions", array.rank())))
}

/// What about an instruction and its operands no rule covers.
pub(super) fn unknown(instruction: &Instruction, operands: &[&Shape]) -> Option<(&'static str, String)> {
    if !instruction.op.is_computed() {
        let opcode = instruction.op.opcode();
        let message = format!("unsupported: operation {opcode} is read and printed, its rule is not verified yet");
        return Some((code::UNSUPPORTED_OPERATION, message));
    }
    if is_dynamic(instruction, operands) {
        let message = "unsupported: dimensions of bounded extent are read and printed, no rule covers them yet";
        return Some((code::UNSUPPORTED_DYNAMIC, message.to_owned()));
    }
    // The operands' own types are reported where the operands are.
    let leaf = instruction.shape.leaves().into_iter().find(|leaf| !is_known(leaf))?;
    let what = match leaf {
        Shape::Array(ArrayShape { element_type, .. }) => format!("element type {element_type}"),
        other => format!("a value of shape {other}"),
    };
    Some((code::UNSUPPORTED_TYPE, format!("unsupported: {what} is read and printed, nothing computes with it yet")))
}

/// Whether an extent of the instruction or an operand is only bounded.
pub(super) fn is_dynamic(instruction: &Instruction, operands: &[&Shape]) -> bool {
    let mut all = std::iter::once(&instruction.shape).chain(operands.iter().copied());
    all.any(|shape| shape.leaves().iter().any(|leaf| leaf.as_array().is_some_and(|array| !array.dynamic.is_empty())))
}

fn is_known(leaf: &Shape) -> bool {
    leaf.as_array().is_some_and(|array| {
        matches!(array.element_type, ElementType::Pred | ElementType::S32 | ElementType::U32 | ElementType::F32)
    })
}
