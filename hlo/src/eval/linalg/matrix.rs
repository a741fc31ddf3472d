//! A dense row-major matrix.

use super::Field;
use std::ops::Range;

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

    /// Some rows and columns.
    pub(super) fn block(&self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let elements = rows.clone().flat_map(|row| columns.clone().map(move |column| self.at(row, column))).collect();
        Matrix { rows: rows.len(), columns: columns.len(), elements }
    }

    /// Rows and columns in the opposite order.
    pub(in crate::eval) fn flipped(&self) -> Self {
        Matrix { rows: self.rows, columns: self.columns, elements: self.elements.iter().rev().copied().collect() }
    }

    /// Exchanges some elements of two rows.
    pub(super) fn exchange_rows(&mut self, one: usize, other: usize, columns: Range<usize>) {
        columns.for_each(|column| self.elements.swap(one * self.columns + column, other * self.columns + column));
    }

    /// Exchanges some elements of two columns.
    pub(super) fn exchange_columns(&mut self, one: usize, other: usize, rows: Range<usize>) {
        rows.for_each(|row| self.elements.swap(row * self.columns + one, row * self.columns + other));
    }

    /// The length of a part of a column.
    pub(super) fn length(&self, column: usize, rows: Range<usize>) -> f64 {
        rows.fold(0.0, |length, row| libm::hypot(length, self.at(row, column).length()))
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
pub(in crate::eval) fn is_finite<F: Field>(a: &Matrix<F>) -> bool {
    a.elements.iter().all(|value| value.re().is_finite() && value.im().is_finite())
}

/// What makes the first of the largest numbers real and positive: its conjugate, of length 1.
pub(super) fn phase<F: Field>(numbers: impl Iterator<Item = F>) -> F {
    // Rounding must not decide which of two equal lengths is the larger.
    let margin = 1.0 + 1e-9;
    let largest =
        numbers.fold(F::default(), |best, number| if number.length() > best.length() * margin { number } else { best });
    if largest.length() == 0.0 { F::of_real(1.0) } else { largest.conjugate().shared(largest.length()) }
}

/// Multiplies by a power of two that brings the largest part of an element into the range where products of some elements and
/// their squares neither overflow nor vanish; returns what to multiply by to undo that. Most matrices need nothing.
pub(super) fn tame<F: Field>(a: &mut Matrix<F>) -> f64 {
    let largest = a.elements.iter().fold(0f64, |largest, value| largest.max(value.re().abs()).max(value.im().abs()));
    let factor = match largest {
        _ if largest == 0.0 => return 1.0,
        _ if largest < SMALL => LARGE,
        _ if largest > LARGE => SMALL,
        _ => return 1.0,
    };
    a.elements.iter_mut().for_each(|value| *value = value.times(factor));
    1.0 / factor
}

/// 2⁻⁴⁶⁰, about 3 · 10⁻¹³⁹.
const SMALL: f64 = f64::from_bits((1023 - 460) << 52);
/// 2⁴⁶⁰.
const LARGE: f64 = f64::from_bits((1023 + 460) << 52);

/// The positions of the values, the least value first; equal ones stay in order.
pub(super) fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}
