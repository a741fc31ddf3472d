//! Triangular systems of equations, by substitution.

use super::{Field, Matrix};

/// Which equations: `op(a) x = b` or `x op(a) = b`.
pub(in crate::eval) struct Triangular {
    /// Whether the matrix is on the left of the unknown.
    pub(in crate::eval) left_side: bool,
    /// Which triangle of `a` counts.
    pub(in crate::eval) lower: bool,
    /// Whether the diagonal is of ones, whatever is there.
    pub(in crate::eval) unit_diagonal: bool,
    /// Whether `op` transposes.
    pub(in crate::eval) transposed: bool,
    /// Whether `op` takes conjugates.
    pub(in crate::eval) conjugated: bool,
}

/// Replaces the right-hand sides in `x` by the unknowns, substituting one after the other.
pub(in crate::eval) fn solve<F: Field>(a: &Matrix<F>, x: &mut Matrix<F>, which: &Triangular) {
    // From the right the transposed matrix is on the left of the transposed unknown.
    let flipped = which.transposed == which.left_side;
    let element = |i: usize, k: usize| {
        let element = if flipped { a.at(k, i) } else { a.at(i, k) };
        if which.conjugated { element.conjugate() } else { element }
    };
    let order = a.rows;
    let first_to_last = which.lower != flipped;
    let columns = if which.left_side { x.columns } else { x.rows };
    let place = |i: usize, column: usize| if which.left_side { (i, column) } else { (column, i) };
    for column in 0..columns {
        for step in 0..order {
            let i = if first_to_last { step } else { order - 1 - step };
            let known = if first_to_last { 0..i } else { i + 1..order };
            let (row, place_column) = place(i, column);
            let rest = known.fold(x.at(row, place_column), |rest, k| {
                let (row, column) = place(k, column);
                rest - element(i, k) * x.at(row, column)
            });
            x.set(row, place_column, if which.unit_diagonal { rest } else { rest.over(element(i, i)) });
        }
    }
}
