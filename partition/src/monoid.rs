//! Operations that regions are.

use weft_hlo::ir::{BinaryOp, Computation, InstrId, Op};

/// The operation that an instruction of a region is, if it is just one of two of its parameters, in either order.
pub(crate) fn operation(region: &Computation, result: InstrId, parameters: (usize, usize)) -> Option<BinaryOp> {
    let root = &region.instructions[result];
    let (Op::Binary(op), [left, right]) = (&root.op, &root.operands[..]) else { return None };
    let number = |operand: &InstrId| match region.instructions[*operand].op {
        Op::Parameter { number } => usize::try_from(number).ok(),
        _ => None,
    };
    let pair = (number(left)?, number(right)?);
    (pair == parameters || (pair.1, pair.0) == parameters).then_some(*op)
}
