//! Heroes: the instructions a kernel is shaped around.

use weft_hlo::ir::{Computation, InstrId, Op};

/// Why this instruction roots a function of its own although its user could take it in, if it does.
///
/// A reduction or a product is a loop, and a transposition changes the order in which memory is walked: emitters that tile build
/// the kernel around them (XLA's heroes), so the functions before and after them stay apart.
pub(crate) fn hero(computation: &Computation, id: InstrId) -> Option<&'static str> {
    let instruction = &computation.instructions[id];
    match &instruction.op {
        Op::Reduce { .. } | Op::ReduceWindow { .. } => Some("it is a reduction, a loop of its own"),
        Op::Dot { .. } | Op::Convolution { .. } => Some("it is a sum of products, a loop of its own"),
        Op::Transpose { permutation } => {
            let extents = &instruction.shape.as_array()?.extents;
            // Dimensions of extent 1 move without changing the order of elements.
            let moved = permutation.iter().zip(extents).filter(|(_, extent)| **extent != 1).map(|(source, _)| source);
            (!moved.is_sorted()).then_some("it is a transposition, a hero that emitters tile")
        }
        _ => None,
    }
}
