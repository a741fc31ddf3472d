//! Eigenvalues, through the crate `nalgebra`.

use super::matrix::{is_finite, phase};
use super::{Field, Matrix};
use nalgebra::{DMatrix, SymmetricEigen};
use num_complex::Complex64;

/// How many steps a decomposition may take for each row and column; a handful is usual.
const STEPS: usize = 100;

/// A decomposition into real values and vectors, which are the columns.
pub(in crate::eval) struct Eigen<F> {
    pub(in crate::eval) values: Vec<f64>,
    pub(in crate::eval) vectors: Matrix<F>,
}

/// Numbers that matrices with eigenvalues are made of.
pub(in crate::eval) trait Spectral: Field {
    /// Eigenvalues of a Hermitian matrix, ascending, and orthonormal eigenvectors; `None` where they are not found, as of a
    /// matrix with NaN. Of a vector's largest elements the first is real and positive.
    fn eigen(a: &Matrix<Self>) -> Option<Eigen<Self>>;
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
        }
    )*};
}

spectral! { f64 Complex64 }
