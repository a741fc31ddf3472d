//! The parts of an operation's operands that its shape function takes.

use crate::ir::{AsyncPhase, Op, Shape};
use smallvec::SmallVec;
use std::ops::Range;

/// An operand, or one element of one that is a tuple.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) operand: usize,
    pub(crate) element: Option<usize>,
}

/// The parts of the operands whose leaves are what the shape function takes; `None` for all operands as they are.
///
/// Where a value is taken out of a tuple, which element that is is a matter of types: extents are those of that element
/// alone, and others that the tuple has cost nothing.
pub(crate) fn parts(op: &Op, operands: &[&Shape]) -> Option<SmallVec<[Part; 2]>> {
    let whole = |operand| Part { operand, element: None };
    let element = |element| Part { operand: 0, element: Some(element) };
    Some(match op {
        Op::GetTupleElement { index } => SmallVec::from_iter([element(usize::try_from(*index).unwrap_or(usize::MAX))]),
        Op::CopyDone => SmallVec::from_iter([element(0)]),
        Op::AllGatherDone
        | Op::CollectivePermuteDone
        | Op::AsyncDone { .. }
        | Op::AsyncShorthand { phase: AsyncPhase::Done, .. } => SmallVec::from_iter([element(1)]),
        // The handle of the transfer stays behind.
        Op::RecvDone { .. } => SmallVec::from_iter([element(0), element(2)]),
        Op::AddDependency => SmallVec::from_iter([whole(0)]),
        Op::CollectivePermute { slice_sizes, .. } if is_in_place(slice_sizes, operands) => {
            SmallVec::from_iter([whole(1)])
        }
        Op::CollectivePermuteStart { slice_sizes, .. } if is_in_place(slice_sizes, operands) => {
            SmallVec::from_iter([whole(0), whole(1)])
        }
        _ => return None,
    })
}

/// Whether the operands of a `collective-permute` are input, output and the places in them of what is sent: there are
/// four, and the text says what sizes the parts have, or the places are tuples, which cannot be sent.
pub(crate) fn is_in_place(slice_sizes: &[Vec<i64>], operands: &[&Shape]) -> bool {
    operands.len() == 4 && (!slice_sizes.is_empty() || operands[2..].iter().all(|place| place.as_tuple().is_some()))
}

/// The shapes of the parts that the shape function of `op` sees. A part that the operands do not have is left out.
pub(crate) fn seen<'a>(op: &Op, operands: &[&'a Shape]) -> SmallVec<[&'a Shape; 4]> {
    let Some(parts) = parts(op, operands) else { return SmallVec::from_slice(operands) };
    let shape = |part: &Part| -> Option<&'a Shape> {
        let operand: &'a Shape = operands.get(part.operand)?;
        part.element.map_or(Some(operand), |element| operand.as_tuple()?.get(element))
    };
    parts.iter().filter_map(shape).collect()
}

impl Part {
    /// Which leaves of the operand are in the part.
    pub(crate) fn leaves(&self, operand: &Shape) -> Option<Range<usize>> {
        let count = |shape: &Shape| shape.leaves().len();
        let Some(element) = self.element else { return Some(0..count(operand)) };
        let elements = operand.as_tuple()?;
        let before: usize = elements.get(..element)?.iter().map(count).sum();
        Some(before..before + count(elements.get(element)?))
    }
}
