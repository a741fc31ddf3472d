//! LAPACK's eigenvalue and singular value routines, and the reductions they start with.

use super::super::registry::CustomCall;
use super::batch::{Output, single};
use super::{flag_letter, letter, one, square};
use crate::eval::linalg::{self, Field, Matrix, Spectral, completed, singular};
use crate::ir::ArrayShape;
use num_complex::Complex64;

/// What `info` is where iterations do not end, and where a matrix has elements that are no finite numbers.
fn failure<F: Field>(a: &Matrix<F>) -> i32 {
    if linalg::is_finite(a) { 1 } else { -4 }
}

/// Numbers that are not found.
fn unknown<F: Field>(count: usize) -> Output<F> {
    Output::Numbers(vec![F::NAN; count])
}

/// Eigenvalues as LAPACK gives them: of a real matrix the real parts, then the imaginary parts.
fn parts<F: Field>(values: Vec<Complex64>) -> Vec<Output<F>> {
    match F::IS_REAL {
        true => vec![
            Output::Reals(values.iter().map(|value| value.re).collect()),
            Output::Reals(values.iter().map(|value| value.im).collect()),
        ],
        false => vec![Output::Complexes(values)],
    }
}

/// Eigenvectors and eigenvalues of a Hermitian matrix; where they are not found, NaN.
pub(super) fn syevd<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let a = one(operands)?;
    square(a)?;
    letter(call, "mode", "NV")?;
    let lower = if flag_letter(call, "uplo", 'L', 'U')? { a.clone() } else { a.adjoint() };
    Ok(match linalg::eigen(triangle(lower)) {
        Some(found) => {
            vec![Output::Numbers(found.vectors.elements), Output::Reals(found.values), Output::Integers(vec![0])]
        }
        None => {
            vec![unknown(a.elements.len()), Output::Reals(vec![f64::NAN; a.rows]), Output::Integers(vec![failure(a)])]
        }
    })
}

/// The lower triangle, whose diagonal is real; what is elsewhere does not count.
fn triangle<F: Field>(mut a: Matrix<F>) -> Matrix<F> {
    for row in 0..a.rows {
        a.set(row, row, F::of_real(a.at(row, row).re()));
        (row + 1..a.columns).for_each(|column| a.set(row, column, F::default()));
    }
    a
}

/// A Hermitian matrix as a real tridiagonal one: the vectors of reflections in the triangle that is read, the two diagonals, and
/// `tau`.
pub(super) fn sytrd<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let a = one(operands)?;
    square(a)?;
    let lower = flag_letter(call, "uplo", 'L', 'U')?;
    // The other triangle is the lower one of the matrix whose rows and columns come in the opposite order.
    let mut turned = if lower { a.clone() } else { a.flipped() };
    let mut found = linalg::tridiagonal(&mut turned);
    if !lower {
        turned = turned.flipped();
        found.diagonal.reverse();
        found.beside.reverse();
        found.taus.reverse();
    }
    Ok(vec![
        Output::Numbers(turned.elements),
        Output::Reals(found.diagonal),
        Output::Reals(found.beside),
        Output::Numbers(found.taus),
        Output::Integers(vec![0]),
    ])
}

/// The matrix with a subdiagonal that is similar to one, the vectors of reflections below it, and `tau`.
pub(super) fn gehrd<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let mut a = one(operands)?.clone();
    square(&a)?;
    let row = |name: &str| call.option(name).and_then(|row| usize::try_from(row).ok());
    let (low, high) = match (row("low"), row("high")) {
        // Without rows the range is one of none.
        (Some(1), Some(0)) if a.rows == 0 => (1, 0),
        (Some(low), Some(high)) if 1 <= low && low <= high && high <= a.rows => (low, high),
        _ => return Err(format!("has no options low and high that are rows of {}", a.rows)),
    };
    let taus = linalg::hessenberg(&mut a, low - 1..high);
    Ok(vec![Output::Numbers(a.elements), Output::Numbers(taus), Output::Integers(vec![0])])
}

/// Eigenvalues, and vectors on the left and on the right, zeros where they are not asked for.
pub(super) fn geev<F: Spectral>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let a = one(operands)?;
    square(a)?;
    let left = flag_letter(call, "compute_left", 'V', 'N')?;
    let right = flag_letter(call, "compute_right", 'V', 'N')?;
    let none = || Matrix::zeros(a.rows, a.rows);
    let nan = || vec![Complex64::NAN; a.elements.len()];
    let (values, vectors, info) = match linalg::spectrum(a.clone(), left, right) {
        Some(found) => {
            let vectors = [found.left, found.right].map(|vectors| vectors.unwrap_or_else(none).elements);
            (found.values, vectors, 0)
        }
        None => (vec![Complex64::NAN; a.rows], [nan(), nan()], failure(a)),
    };
    let vectors = vectors.map(Output::Complexes);
    Ok(parts(values).into_iter().chain(vectors).chain([Output::Integers(vec![info])]).collect())
}

/// Schur's form, its vectors, zeros where they are not asked for, eigenvalues, and how many of these were selected, which is none.
pub(super) fn gees<F: Spectral>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let a = one(operands)?;
    square(a)?;
    let wanted = flag_letter(call, "mode", 'V', 'N')?;
    if letter(call, "sort", "NS")? == 'S' {
        return Err("does not sort eigenvalues: no option says which come first".to_owned());
    }
    let (form, vectors, values, info) = match linalg::schur(a.clone()) {
        Some(found) => {
            let values = found.values();
            let vectors = if wanted { found.vectors } else { Matrix::zeros(a.rows, a.rows) };
            (Output::Numbers(found.form.elements), Output::Numbers(vectors.elements), values, 0)
        }
        None => (unknown(a.elements.len()), unknown(a.elements.len()), vec![Complex64::NAN; a.rows], failure(a)),
    };
    let rest = [Output::Integers(vec![0]), Output::Integers(vec![info])];
    Ok([form, vectors].into_iter().chain(parts(values)).chain(rest).collect())
}

/// The extents of the matrices in an array.
fn last_extents(shape: &ArrayShape) -> Result<(usize, usize), String> {
    single(shape, shape.rank().saturating_sub(2))
}

/// The matrix as it was, singular values, left vectors and adjoint right vectors: as many as there are values for the
/// mode `S`, all for `A`, zeros for `N`. What is not found is NaN.
pub(super) fn gesdd<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let a = one(operands)?;
    let mode = letter(call, "mode", "ASN")?;
    let count = a.rows.min(a.columns);
    let declared = call.results();
    let [.., u, v, _] = &declared[..] else { return Err("gives five arrays".to_owned()) };
    // What is not computed has the shape that the text says.
    let (u_columns, v_rows) = match mode {
        'A' => (a.rows, a.columns),
        'S' => (count, count),
        _ => (last_extents(u)?.1, last_extents(v)?.0),
    };
    if last_extents(u)? != (a.rows, u_columns) || last_extents(v)? != (v_rows, a.columns) {
        return Err(format!("does not give {u} and {v} for {} by {} elements", a.rows, a.columns));
    }
    let given = Output::Numbers(a.elements.clone());
    let Some(found) = singular(a) else {
        return Ok(vec![
            given,
            Output::Reals(vec![f64::NAN; count]),
            unknown(a.rows * u_columns),
            unknown(v_rows * a.columns),
            Output::Integers(vec![failure(a)]),
        ]);
    };
    let (u, v) = match mode {
        'N' => (Matrix::zeros(a.rows, u_columns), Matrix::zeros(v_rows, a.columns)),
        _ => (completed(&found.u, u_columns), completed(&found.v.adjoint(), v_rows).adjoint()),
    };
    Ok(vec![
        given,
        Output::Reals(found.values),
        Output::Numbers(u.elements),
        Output::Numbers(v.elements),
        Output::Integers(vec![0]),
    ])
}
