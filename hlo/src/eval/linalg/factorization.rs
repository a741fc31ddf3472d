//! Cholesky factorization, and LU factorization with partial pivoting.

use super::{Field, Matrix};

/// The lower triangular `l` with `a = l lᴴ`, for `a` given by its lower triangle; of the diagonal the real parts count.
///
/// # Errors
/// The order, from 1, of the first leading minor that is not positive.
pub(in crate::eval) fn cholesky<F: Field>(order: usize, a: &dyn Fn(usize, usize) -> F) -> Result<Matrix<F>, usize> {
    let mut l: Matrix<F> = Matrix::zeros(order, order);
    for j in 0..order {
        let squares: f64 = (0..j).map(|k| (l.at(j, k) * l.at(j, k).conjugate()).re()).sum();
        let square = a(j, j).re() - squares;
        if square.is_nan() || square <= 0.0 {
            return Err(j + 1);
        }
        let diagonal = square.sqrt();
        l.set(j, j, F::of_real(diagonal));
        for i in j + 1..order {
            let rest = (0..j).fold(a(i, j), |rest, k| rest - l.at(i, k) * l.at(j, k).conjugate());
            l.set(i, j, rest.shared(diagonal));
        }
    }
    Ok(l)
}

/// What elimination leaves beside the factors.
pub(in crate::eval) struct Pivots {
    /// For each step the row, from 0, that was exchanged with the step's own.
    pub(in crate::eval) rows: Vec<usize>,
    /// The first step, from 1, whose pivot was zero; 0 if none was.
    pub(in crate::eval) zero: usize,
}

/// Factors `a` with its rows permuted into `l u` in place: `u` from the diagonal on, `l` with ones on its diagonal below. In
/// each column the pivot is the first of the largest elements.
pub(in crate::eval) fn lu<F: Field>(a: &mut Matrix<F>) -> Pivots {
    let mut pivots = Pivots { rows: Vec::new(), zero: 0 };
    for step in 0..a.rows.min(a.columns) {
        let larger =
            |best: usize, row: usize| if a.at(row, step).size() > a.at(best, step).size() { row } else { best };
        let pivot = (step + 1..a.rows).fold(step, larger);
        pivots.rows.push(pivot);
        if a.at(pivot, step) == F::default() {
            pivots.zero = if pivots.zero == 0 { step + 1 } else { pivots.zero };
            continue;
        }
        for column in 0..a.columns {
            a.elements.swap(step * a.columns + column, pivot * a.columns + column);
        }
        for row in step + 1..a.rows {
            let factor = a.at(row, step).over(a.at(step, step));
            a.set(row, step, factor);
            for column in step + 1..a.columns {
                a.set(row, column, a.at(row, column) - factor * a.at(step, column));
            }
        }
    }
    pivots
}
