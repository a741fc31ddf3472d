//! Matrices in the last two dimensions: cholesky and triangular-solve.
//!
//! Only a triangle of a matrix counts, and in it what substitution passes on its way to an element. The maps are coarse:
//! they lead to whole matrices, or whole lines of right-hand sides.

use super::context::{InstructionContext, OperationMaps};

/// The dimensions before those of the matrices.
fn batch(context: &InstructionContext<'_>) -> Vec<(usize, usize)> {
    let count = context.result(0).len().saturating_sub(2);
    (0..count).map(|dimension| (dimension, dimension)).collect()
}

/// Any element of a factor tells that its matrix has one.
pub(super) fn cholesky(context: &InstructionContext<'_>) -> OperationMaps {
    Ok(vec![context.coarse(0, 0, &batch(context), "one triangle of the matrix is not read")])
}

/// Columns of the unknown, or its rows where the matrix stands on the right, are solved each on its own.
pub(super) fn triangular_solve(context: &InstructionContext<'_>, left_side: bool) -> OperationMaps {
    let batch = batch(context);
    let own = if left_side { batch.len() + 1 } else { batch.len() };
    let of_unknown = [&batch[..], &[(own, own)]].concat();
    let reason = "substitution reads a triangle, and no further than to the element";
    Ok(vec![context.coarse(0, 0, &batch, reason), context.coarse(0, 1, &of_unknown, reason)])
}
