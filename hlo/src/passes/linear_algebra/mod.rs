//! Expansion of linear algebra into loops of elementary operations.

mod bands;
mod calls;
mod cholesky;
mod eigen;
mod lu;
mod matrices;
mod panels;
mod reflections;
mod rotations;
mod scope;
mod singular;
mod triangular;

use super::pass::{Pass, Rewritten};
use super::rebuild::rewrite_module;
use crate::diagnostic::Diagnostics;
use crate::ir::{ElementType, Module, Op, Shape};

/// Replaces `cholesky`, `triangular-solve` and LAPACK's routines, as JAX calls them, by loops of `dot` and elementwise operations, for
/// what runs programs without such operations. What is made has the same size for matrices of any order above 32.
///
/// - `cholesky`, `triangular-solve`, `potrf`, `trsm`, `getrf`, `geqrf`, `orgqr` and `ormqr` work off panels of columns or blocks of rows, of 32
///   (of 64, where there are more than 1,024), one after the other: each by itself, then what is behind it by products of matrices.
/// - `geqp3`, where no column is to come first, `gehrd`, of all rows and columns, `sytrd` and `gtsv` go column by column, or row by row.
/// - `syevd` and `gesdd` rotate all pairs of rows and columns, as many at a time as there are, in sweeps until nothing is left to rotate
///   (Jacobi's method, and for singular values that of Hestenes on a triangular factor).
///
/// Rounding differs from that of the operations: sums are rounded at each step, in `f32` for narrower floats. Everything else of
/// `cholesky` and `triangular-solve` is the same: which triangles are read, what divides by zero, and NaN throughout for a matrix that is
/// not positive definite. Pivots, `info` and the signs of reflections are LAPACK's; signs of eigenvectors and singular vectors, which
/// nothing fixes, may come out otherwise.
pub struct LinearAlgebra;

impl Pass for LinearAlgebra {
    fn name(&self) -> &'static str {
        "expand-linear-algebra"
    }

    fn about(&self) -> &'static str {
        "writes cholesky, triangular-solve and LAPACK's routines out as loops; rounding differs"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(expand_linear_algebra(module, &|_| true))
    }
}

/// As [`LinearAlgebra`], but only operations on elements of types that something computes with.
pub fn expand_linear_algebra(module: &Module, computes: &dyn Fn(ElementType) -> bool) -> Rewritten {
    rewrite_module(module, &mut |rebuild, candidate| {
        let leaves = candidate.shape.leaves();
        if !leaves.into_iter().filter_map(Shape::as_array).all(|array| computes(array.element_type)) {
            return None;
        }
        let array = candidate.shape.as_array().filter(|shape| shape.dynamic.is_empty());
        match candidate.op {
            Op::Cholesky { lower } => cholesky::expand(rebuild, candidate, array?, lower),
            Op::TriangularSolve { left_side, lower, unit_diagonal, transpose_a } => {
                let system = triangular::System { left_side, lower, unit_diagonal, transpose_a };
                triangular::expand(rebuild, candidate, array?, &system)
            }
            Op::CustomCall { ref custom_call_target, custom_call_has_side_effect: false, .. } => {
                calls::expand(rebuild, candidate, custom_call_target)
            }
            _ => None,
        }
    })
}
