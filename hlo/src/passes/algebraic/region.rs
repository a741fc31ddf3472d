//! Computations of reductions that come to one operation.

use crate::ir::{Arena, BinaryOp, Computation, ComputationId, ElementType, Op, Shape};

/// One operation of an accumulator and an element.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// The operation.
    pub(super) op: BinaryOp,
    /// Whether the element is its first operand.
    pub(super) is_reversed: bool,
}

/// The operation that a computation of scalars of this type comes to.
pub(super) fn region(
    computations: &Arena<ComputationId, Computation>,
    computation: ComputationId,
    element_type: ElementType,
) -> Option<Region> {
    let computation = computations.get(computation)?;
    let root = &computation.instructions[computation.root];
    let Op::Binary(op) = root.op else { return None };
    let parameters = computation.parameters();
    let &[accumulator, element] = &parameters[..] else { return None };
    let scalar = Shape::scalar(element_type);
    let shapes = [&root.shape, &computation.instructions[accumulator].shape, &computation.instructions[element].shape];
    if !shapes.iter().all(|shape| shape.is_compatible(&scalar)) {
        return None;
    }
    match root.operands[..] {
        [a, b] if (a, b) == (accumulator, element) => Some(Region { op, is_reversed: false }),
        [a, b] if (a, b) == (element, accumulator) => Some(Region { op, is_reversed: true }),
        _ => None,
    }
}
