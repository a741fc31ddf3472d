//! What a round of a loop hands on as it was given it.

use weft_hlo::ir::{ArenaId, Computation, Op, Shape};

/// Which leaves of its parameter a computation returns in their places.
pub(super) fn passed_on(computation: &Computation) -> Vec<bool> {
    let mut of: Vec<Option<Vec<Option<usize>>>> = vec![None; computation.instructions.len()];
    for (id, instruction) in computation.instructions.iter() {
        of[id.index()] = match &instruction.op {
            Op::Parameter { .. } => Some((0..instruction.shape.leaves().len()).map(Some).collect()),
            Op::Tuple => {
                let operands = instruction.operands.iter().map(|operand| {
                    let count = computation.instructions[*operand].shape.leaves().len();
                    of[operand.index()].clone().unwrap_or_else(|| vec![None; count])
                });
                Some(operands.collect::<Vec<_>>().concat())
            }
            Op::GetTupleElement { index } => instruction.operands.first().and_then(|operand| {
                let elements = computation.instructions[*operand].shape.as_tuple()?;
                let index = usize::try_from(*index).ok()?;
                let first: usize = elements.iter().take(index).map(leaf_count).sum();
                let count = leaf_count(elements.get(index)?);
                Some(of[operand.index()].as_ref()?.get(first..first + count)?.to_vec())
            }),
            _ => None,
        };
    }
    let result = of[computation.root.index()].clone().unwrap_or_default();
    result.into_iter().enumerate().map(|(position, leaf)| leaf == Some(position)).collect()
}

/// How many leaves values of a shape have.
pub(super) fn leaf_count(shape: &Shape) -> usize {
    shape.as_tuple().map_or(1, |elements| elements.iter().map(leaf_count).sum())
}
