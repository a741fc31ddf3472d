//! LU factorization with partial pivoting.

use super::{Field, Matrix};

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
