//! Singular values by one-sided Jacobi rotations (Hestenes, 1958), accurate also for rank-deficient matrices.

use super::matrix::{ascending, is_finite, phase};
use super::{Field, Matrix, product, qr};

/// How often all pairs may be rotated; ten times is usual.
const MAX_SWEEPS: usize = 100;

/// `u diag(values) v`: orthonormal columns and rows, as many as there are values.
pub(in crate::eval) struct Singular<F> {
    pub(in crate::eval) u: Matrix<F>,
    pub(in crate::eval) values: Vec<f64>,
    pub(in crate::eval) v: Matrix<F>,
}

/// Singular values, descending, and their vectors; `None` where they are not found, as of a matrix with NaN. Of the largest
/// elements of each column of `u` the first is real and positive.
pub(in crate::eval) fn singular<F: Field>(a: &Matrix<F>) -> Option<Singular<F>> {
    if !is_finite(a) {
        return None;
    }
    // With at least as many rows as columns no more columns than necessary are rotated.
    let wide = a.columns > a.rows;
    let (left, values, right) = rotated(if wide { a.adjoint() } else { a.clone() })?;
    let (mut u, mut v) = if wide { (right, left) } else { (left, right) };
    for column in 0..values.len() {
        let phase = phase((0..u.rows).map(|row| u.at(row, column)));
        (0..u.rows).for_each(|row| u.set(row, column, u.at(row, column) * phase));
        (0..v.rows).for_each(|row| v.set(row, column, v.at(row, column) * phase));
    }
    Some(Singular { u, values, v: v.adjoint() })
}

/// Left vectors, values and right vectors of a matrix with at least as many rows as columns.
fn rotated<F: Field>(mut a: Matrix<F>) -> Option<(Matrix<F>, Vec<f64>, Matrix<F>)> {
    let largest = a.elements.iter().fold(0f64, |largest, value| largest.max(value.re().abs()).max(value.im().abs()));
    // Squares of what is at most 1 do not overflow.
    let scale = if largest > 0.0 { largest } else { 1.0 };
    a.elements.iter_mut().for_each(|value| *value = F::of_parts(value.re() / scale, value.im() / scale));
    let mut v = Matrix::identity(a.columns, a.columns);
    let total = (0..a.columns).map(|column| a.square(column)).sum::<f64>().sqrt();
    let negligible = total * f64::EPSILON;
    let mut sweeps = 0;
    while sweep(&mut a, &mut v, negligible) {
        sweeps += 1;
        if sweeps == MAX_SWEEPS {
            return None;
        }
    }
    let lengths: Vec<f64> = (0..a.columns).map(|column| a.square(column).sqrt()).collect();
    let order = ascending(&lengths.iter().map(|length| -length).collect::<Vec<f64>>());
    let certain = order.iter().filter(|&&column| lengths[column] > negligible).count();
    let (mut u, mut right) = (Matrix::zeros(a.rows, certain), Matrix::zeros(a.columns, a.columns));
    for (to, &from) in order.iter().enumerate() {
        (0..a.columns).for_each(|row| right.set(row, to, v.at(row, from)));
        if to < certain {
            (0..a.rows).for_each(|row| u.set(row, to, a.at(row, from).shared(lengths[from])));
        }
    }
    let values = order.iter().map(|&column| lengths[column] * scale).collect();
    Some((completed(&u, a.columns), values, right))
}

/// Rotates every pair of columns that are not orthogonal so that they are, and says whether there was one. Columns no longer
/// than `negligible` are of rounding errors only.
fn sweep<F: Field>(a: &mut Matrix<F>, v: &mut Matrix<F>, negligible: f64) -> bool {
    let mut found = false;
    for p in 0..a.columns {
        for q in p + 1..a.columns {
            let (square_p, square_q) = (a.square(p), a.square(q));
            let inner = (0..a.rows).fold(F::default(), |sum, row| sum + a.at(row, p).conjugate() * a.at(row, q));
            let (length, limit) = (inner.length(), (square_p * square_q).sqrt());
            let error = f64::EPSILON * a.rows as f64;
            if length <= error * limit || square_p.min(square_q).sqrt() <= negligible {
                continue;
            }
            found = true;
            // The smaller root of t² + 2 ζ t - 1 = 0 is the tangent of the angle.
            let zeta = (square_q - square_p) / (2.0 * length);
            let tangent = 1f64.copysign(zeta) / (zeta.abs() + libm::hypot(zeta, 1.0));
            let cosine = 1.0 / libm::hypot(tangent, 1.0);
            let phase = inner.conjugate().shared(length);
            for matrix in [&mut *a, &mut *v] {
                matrix.rotate((p, q), F::of_real(cosine), F::of_real(cosine * tangent), phase);
            }
        }
    }
    found
}

impl<F: Field> Matrix<F> {
    /// The square of a column's length.
    fn square(&self, column: usize) -> f64 {
        (0..self.rows)
            .map(|row| self.at(row, column))
            .map(|value| value.re() * value.re() + value.im() * value.im())
            .sum()
    }

    /// Rotates two columns, of which the second is multiplied by `phase` first.
    fn rotate(&mut self, (p, q): (usize, usize), cosine: F, sine: F, phase: F) {
        for row in 0..self.rows {
            let (x, y) = (self.at(row, p), self.at(row, q) * phase);
            self.set(row, p, cosine * x - sine * y);
            self.set(row, q, sine * x + cosine * y);
        }
    }
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
    let q = product(&reflections, &taus);
    for row in 0..columns.rows {
        (columns.columns..count).for_each(|column| wide.set(row, column, q.at(row, column)));
    }
    wide
}
