//! Eigenvalues and singular values, through the crate `nalgebra`.

use super::{Field, Matrix, product, qr};
use nalgebra::{DMatrix, SVD, SymmetricEigen};
use num_complex::Complex64;

/// How many steps a decomposition may take for each row and column; a handful is usual.
const STEPS: usize = 100;

/// A decomposition into real values and vectors, which are the columns.
pub(in crate::eval) struct Eigen<F> {
    pub(in crate::eval) values: Vec<f64>,
    pub(in crate::eval) vectors: Matrix<F>,
}

/// `u diag(values) v`, values descending.
pub(in crate::eval) struct Singular<F> {
    pub(in crate::eval) u: Matrix<F>,
    pub(in crate::eval) values: Vec<f64>,
    pub(in crate::eval) v: Matrix<F>,
}

/// Numbers that decompositions are known for.
pub(in crate::eval) trait Spectral: Field {
    /// Eigenvalues of a Hermitian matrix, ascending, and orthonormal eigenvectors; `None` where they are not found, as of a
    /// matrix with NaN. Of a vector's largest elements the first is real and positive.
    fn eigen(a: &Matrix<Self>) -> Option<Eigen<Self>>;

    /// Singular values, descending, and as many orthonormal columns and rows as there are values; `None` where they are not
    /// found, as of a matrix with NaN. Of the largest elements of each column of `u` the first is real and positive.
    fn singular(a: &Matrix<Self>) -> Option<Singular<Self>>;
}

macro_rules! spectral {
    ($($field:ty)*) => {$(
        impl Spectral for $field {
            fn eigen(a: &Matrix<Self>) -> Option<Eigen<Self>> {
                if !is_finite(a) {
                    return None;
                }
                if a.rows == 0 {
                    return Some(Eigen { values: Vec::new(), vectors: Matrix::zeros(0, 0) });
                }
                let held = DMatrix::from_row_slice(a.rows, a.columns, &a.elements);
                let found = SymmetricEigen::try_new(held, f64::EPSILON, STEPS * a.rows)?;
                let mut order: Vec<usize> = (0..a.rows).collect();
                order.sort_by(|&a, &b| found.eigenvalues[a].total_cmp(&found.eigenvalues[b]));
                let mut vectors = Matrix::zeros(a.rows, a.rows);
                for (column, &from) in order.iter().enumerate() {
                    let phase = phase((0..a.rows).map(|row| found.eigenvectors[(row, from)]));
                    (0..a.rows).for_each(|row| vectors.set(row, column, found.eigenvectors[(row, from)] * phase));
                }
                Some(Eigen { values: order.iter().map(|&at| found.eigenvalues[at]).collect(), vectors })
            }

            fn singular(a: &Matrix<Self>) -> Option<Singular<Self>> {
                if !is_finite(a) {
                    return None;
                }
                let count = a.rows.min(a.columns);
                if count == 0 {
                    let (u, v) = (Matrix::zeros(a.rows, 0), Matrix::zeros(0, a.columns));
                    return Some(Singular { u, values: Vec::new(), v });
                }
                let held = DMatrix::from_row_slice(a.rows, a.columns, &a.elements);
                let steps = STEPS * (a.rows + a.columns);
                let found = SVD::try_new(held, true, true, f64::EPSILON, steps)?;
                let (found_u, found_v) = (found.u?, found.v_t?);
                let (mut u, mut v) = (Matrix::zeros(a.rows, count), Matrix::zeros(count, a.columns));
                for value in 0..count {
                    let phase = phase((0..a.rows).map(|row| found_u[(row, value)]));
                    (0..a.rows).for_each(|row| u.set(row, value, found_u[(row, value)] * phase));
                    (0..a.columns).for_each(|at| v.set(value, at, found_v[(value, at)] * phase.conjugate()));
                }
                Some(Singular { u, values: found.singular_values.iter().copied().collect(), v })
            }
        }
    )*};
}

spectral! { f64 Complex64 }

fn is_finite<F: Field>(a: &Matrix<F>) -> bool {
    a.elements.iter().all(|value| value.re().is_finite() && value.im().is_finite())
}

/// What makes the first of the largest numbers real and positive: its conjugate, of length 1.
fn phase<F: Field>(numbers: impl Iterator<Item = F>) -> F {
    // Rounding must not decide which of two equal lengths is the larger.
    let margin = 1.0 + 1e-9;
    let largest =
        numbers.fold(F::default(), |best, number| if number.length() > best.length() * margin { number } else { best });
    if largest.length() == 0.0 { F::of_real(1.0) } else { largest.conjugate() / F::of_real(largest.length()) }
}

/// The orthonormal columns, followed by others up to a number of them.
pub(in crate::eval) fn completed<F: Field>(columns: &Matrix<F>, count: usize) -> Matrix<F> {
    let mut wide = Matrix::zeros(columns.rows, count);
    for row in 0..columns.rows {
        (0..columns.columns).for_each(|column| wide.set(row, column, columns.at(row, column)));
    }
    // Reflections that turn these columns into multiples of unit vectors turn the other unit vectors into what is
    // orthogonal to them.
    let mut narrow = columns.clone();
    let taus = qr(&mut narrow);
    let mut reflections = wide.clone();
    for row in 0..columns.rows {
        (0..columns.columns).for_each(|column| reflections.set(row, column, narrow.at(row, column)));
    }
    let q = product(&mut reflections, &taus);
    for row in 0..columns.rows {
        (columns.columns..count).for_each(|column| wide.set(row, column, q.at(row, column)));
    }
    wide
}
