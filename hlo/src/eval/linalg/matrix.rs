//! Matrices.

use super::Field;

/// A matrix, row by row.
#[derive(Clone)]
pub(in crate::eval) struct Matrix<F> {
    pub(in crate::eval) rows: usize,
    pub(in crate::eval) columns: usize,
    pub(in crate::eval) elements: Vec<F>,
}

impl<F: Field> Matrix<F> {
    /// Ones on the diagonal, else zeros.
    pub(in crate::eval) fn identity(rows: usize, columns: usize) -> Self {
        let mut matrix = Matrix::zeros(rows, columns);
        (0..rows.min(columns)).for_each(|i| matrix.set(i, i, F::of_real(1.0)));
        matrix
    }

    /// Zeros.
    pub(in crate::eval) fn zeros(rows: usize, columns: usize) -> Self {
        Matrix { rows, columns, elements: vec![F::default(); rows * columns] }
    }

    /// The element in a row and a column.
    pub(in crate::eval) fn at(&self, row: usize, column: usize) -> F {
        self.elements[row * self.columns + column]
    }

    /// Replaces the element in a row and a column.
    pub(in crate::eval) fn set(&mut self, row: usize, column: usize, value: F) {
        self.elements[row * self.columns + column] = value;
    }

    /// The conjugate transpose.
    pub(in crate::eval) fn adjoint(&self) -> Self {
        let mut adjoint = Matrix::zeros(self.columns, self.rows);
        for row in 0..self.rows {
            for column in 0..self.columns {
                adjoint.set(column, row, self.at(row, column).conjugate());
            }
        }
        adjoint
    }
}

/// Whether there is neither an infinity nor a NaN.
pub(super) fn is_finite<F: Field>(a: &Matrix<F>) -> bool {
    a.elements.iter().all(|value| value.re().is_finite() && value.im().is_finite())
}

/// What makes the first of the largest numbers real and positive: its conjugate, of length 1.
pub(super) fn phase<F: Field>(numbers: impl Iterator<Item = F>) -> F {
    // Rounding must not decide which of two equal lengths is the larger.
    let margin = 1.0 + 1e-9;
    let largest =
        numbers.fold(F::default(), |best, number| if number.length() > best.length() * margin { number } else { best });
    if largest.length() == 0.0 { F::of_real(1.0) } else { largest.conjugate() / F::of_real(largest.length()) }
}
