//! Dense linear algebra on the last two dimensions, computed in `f64` or complex `f64` and rounded once.

mod balance;
mod bands;
mod eigen;
mod eigenvectors;
mod factorization;
mod field;
mod householder;
mod matrix;
mod schur;
mod schur_complex;
mod schur_real;
mod singular;
mod triangular;
mod tridiagonal;

pub(super) use bands::{Bands, Precision, solve_bands, solve_perturbed_bands};
pub(super) use eigen::eigen;
pub(super) use eigenvectors::spectrum;
pub(super) use factorization::{cholesky, lu};
pub(super) use field::{Field, read, write};
pub(super) use householder::{apply, hessenberg, pivoted, product, qr};
pub(super) use matrix::{Matrix, is_finite};
pub(super) use schur::{Spectral, schur};
pub(super) use singular::{completed, singular};
pub(super) use triangular::{Triangular, solve};
pub(super) use tridiagonal::{Tridiagonal, tridiagonal};

use super::call::Call;
use super::movement::extents;
use super::work::Stop;
use crate::ir::{ArrayShape, Data, TransposeKind};
use num_complex::Complex64;

/// `a = l lᴴ` for `lower`, else `a = uᴴ u`, of which that triangle is read and the other is 0 in the result. A matrix that is
/// not positive definite gives NaN throughout, as in XLA.
pub(super) fn cholesky_operation(call: &Call<'_, '_>, lower: bool) -> Result<Data, Stop> {
    if call.shape(0).element_type.is_complex() {
        factored::<Complex64>(call, lower)
    } else {
        factored::<f64>(call, lower)
    }
}

fn factored<F: Field>(call: &Call<'_, '_>, lower: bool) -> Result<Data, Stop> {
    let _held = call.work().reserve(held::<F>(call.shape(0)))?;
    let mut values = read::<F>(call.data(0))?;
    let (rows, _) = extent_of_matrices(call.shape(0));
    for values in values.chunks_mut((rows * rows).max(1)) {
        call.work().go_on()?;
        let a = Matrix { rows, columns: rows, elements: values.to_vec() };
        let lower_triangle = |i: usize, j: usize| if lower { a.at(i, j) } else { a.at(j, i).conjugate() };
        match cholesky(rows, &lower_triangle) {
            Ok(l) if lower => values.copy_from_slice(&l.elements),
            Ok(l) => values.copy_from_slice(&l.adjoint().elements),
            Err(_) => values.fill(F::NAN),
        }
    }
    Ok(write(&values, call.result().element_type)?)
}

/// `op(a) x = b` for `left_side`, else `x op(a) = b`. Of `a` only the triangle is read, and not its diagonal if that is said
/// to be of ones; a zero there is divided by.
pub(super) fn triangular_solve(
    call: &Call<'_, '_>,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose: TransposeKind,
) -> Result<Data, Stop> {
    let triangular = Triangular {
        left_side,
        lower,
        unit_diagonal,
        transposed: transpose != TransposeKind::None,
        conjugated: transpose == TransposeKind::Adjoint,
    };
    if call.shape(0).element_type.is_complex() {
        solved::<Complex64>(call, &triangular)
    } else {
        solved::<f64>(call, &triangular)
    }
}

fn solved<F: Field>(call: &Call<'_, '_>, triangular: &Triangular) -> Result<Data, Stop> {
    let _held = call.work().reserve(held::<F>(call.shape(0)).saturating_add(held::<F>(call.shape(1))))?;
    let (a, mut b) = (read::<F>(call.data(0))?, read::<F>(call.data(1))?);
    let (order, (rows, columns)) = (extent_of_matrices(call.shape(0)).0, extent_of_matrices(call.shape(1)));
    // Where there are no unknowns there is nothing to solve; else there are as many matrices of both.
    if !b.is_empty() {
        for (a, b) in a.chunks(order * order).zip(b.chunks_mut(rows * columns)) {
            call.work().go_on()?;
            let a = Matrix { rows: order, columns: order, elements: a.to_vec() };
            let mut x = Matrix { rows, columns, elements: b.to_vec() };
            solve(&a, &mut x, triangular);
            b.copy_from_slice(&x.elements);
        }
    }
    Ok(write(&b, call.result().element_type)?)
}

fn held<F>(shape: &ArrayShape) -> u64 {
    let count = u64::try_from(shape.element_count().unwrap_or(i64::MAX)).unwrap_or(u64::MAX);
    count.saturating_mul(2 * size_of::<F>() as u64)
}

/// The last two extents.
fn extent_of_matrices(shape: &ArrayShape) -> (usize, usize) {
    let extents = extents(shape);
    (extents[extents.len() - 2], extents[extents.len() - 1])
}
