//! Dots of numbers that take four to a word.

use crate::Target;
use weft_hlo::ir::{Computation, ElementType, InstrId, Op};

/// Products that are too few for words.
const FEW: i64 = 8;

/// The type of four numbers to a word that both operands of a dot can be taken for, each number as it is; none where sums are not of 32 bits, which wrap, or the target computes in software: drivers
/// there take words apart for each product. Operands may have been converted to wider types on their way.
pub(super) fn of(computation: &Computation, id: InstrId, depth: i64, target: &Target) -> Option<ElementType> {
    let dot = &computation.instructions[id];
    let sums = dot.shape.as_array()?.element_type;
    let is_meant = matches!(dot.op, Op::Dot { .. }) && matches!(sums, ElementType::S32 | ElementType::U32);
    if !is_meant || depth < FEW || target.is_software() {
        return None;
    }
    let own: Vec<ElementType> =
        dot.operands.iter().map(|operand| narrow(computation, *operand)).collect::<Option<_>>()?;
    [ElementType::S8, ElementType::U8].into_iter().find(|word| own.iter().all(|ty| is_one_of(*ty, *word)))
}

/// Whether all numbers of a type are numbers of another one of 8 bits.
fn is_one_of(ty: ElementType, word: ElementType) -> bool {
    match ty.is_unsigned() {
        true => word.is_unsigned() || ty.bits() < 8,
        false => !word.is_unsigned(),
    }
}

/// The integers of at most 8 bits that an array is made of by converting and moving them.
fn narrow(computation: &Computation, id: InstrId) -> Option<ElementType> {
    let instruction = &computation.instructions[id];
    let ty = instruction.shape.as_array()?.element_type;
    if ty.is_integer() && (2..=8).contains(&ty.bits()) {
        return Some(ty);
    }
    if !matches!(ty, ElementType::S16 | ElementType::S32 | ElementType::U32) {
        return None;
    }
    match instruction.op {
        Op::Convert
        | Op::Copy
        | Op::Reshape
        | Op::Bitcast
        | Op::Transpose { .. }
        | Op::Broadcast { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::DynamicSlice { .. } => narrow(computation, *instruction.operands.first()?),
        _ => None,
    }
}
