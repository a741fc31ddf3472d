//! Expansion of linear algebra into loops of elementary operations.

mod cholesky;
pub(super) mod counted;
mod matrices;
mod triangular;

use super::pass::{Pass, Rewritten};
use super::rebuild::rewrite_module;
use crate::diagnostic::Diagnostics;
use crate::ir::{Module, Op};

/// Replaces `cholesky` and `triangular-solve` by loops over columns or rows, of `dot` and elementwise operations, for what runs
/// programs without such operations. What is made has the same size for matrices of any order.
///
/// Rounding differs from that of the operations: sums are rounded at each step, in `f32` for narrower floats. Everything else is
/// the same: which triangles are read, what divides by zero, and NaN throughout for a matrix that is not positive definite.
pub struct LinearAlgebra;

impl Pass for LinearAlgebra {
    fn name(&self) -> &'static str {
        "expand-linear-algebra"
    }

    fn about(&self) -> &'static str {
        "writes cholesky and triangular-solve out as loops; rounding differs"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| {
            let shape = candidate.shape.as_array().filter(|shape| shape.dynamic.is_empty())?;
            match candidate.op {
                Op::Cholesky { lower } => cholesky::expand(rebuild, candidate, shape, lower),
                Op::TriangularSolve { left_side, lower, unit_diagonal, transpose_a } => {
                    let system = triangular::System { left_side, lower, unit_diagonal, transpose_a };
                    triangular::expand(rebuild, candidate, shape, &system)
                }
                _ => None,
            }
        }))
    }
}
