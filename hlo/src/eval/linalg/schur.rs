//! The Schur decomposition `a = z t zᴴ`, with `t` upper (for real matrices quasi-) triangular.

use super::balance::balance;
use super::householder::{hessenberg, product_below};
use super::matrix::{is_finite, tame};
use super::{Field, Matrix};
use num_complex::{Complex, Complex64};

/// How many steps may be taken for each eigenvalue on average; three are usual. After every tenth without success the shift is
/// another one, for matrices that a step leaves as they are.
const MAX_STEPS_PER_EIGENVALUE: usize = 60;

/// What is no larger is nothing.
pub(super) const NOTHING: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// Schur's form, and what it takes to get there.
pub(in crate::eval) struct Schur<F> {
    /// Zero below the diagonal. A real form has blocks of two rows, `[a b; c a]` with `b c < 0`, for pairs of eigenvalues that
    /// are conjugates of each other.
    pub(in crate::eval) form: Matrix<F>,
    /// Orthonormal columns.
    pub(in crate::eval) vectors: Matrix<F>,
}

/// Numbers whose matrices have Schur's form.
pub(in crate::eval) trait Spectral: Field {
    /// Rotates what is below the diagonal of a matrix `h` with a subdiagonal away, up to blocks of two rows, and the columns of
    /// `z` along. Returns `None` where that does not end.
    fn iterate(h: &mut Matrix<Self>, z: &mut Matrix<Self>, steps: usize) -> Option<()>;
}

/// Schur's form of a square matrix; `None` where it is not found, as of a matrix with NaN. Rows and columns that are in the form
/// already are exchanged only.
pub(in crate::eval) fn schur<F: Spectral>(mut a: Matrix<F>) -> Option<Schur<F>> {
    if !is_finite(&a) {
        return None;
    }
    let undo = tame(&mut a);
    let balance = balance(&mut a, false);
    let mut found = unbalanced_schur(a)?;
    balance.undo(&mut found.vectors, false);
    found.form.elements.iter_mut().for_each(|value| *value = value.times(undo));
    Some(found)
}

/// Schur's form of a finite matrix.
pub(super) fn unbalanced_schur<F: Spectral>(mut a: Matrix<F>) -> Option<Schur<F>> {
    let order = a.rows;
    let taus = hessenberg(&mut a, 0..order);
    let mut vectors = product_below(&a, &taus);
    for row in 2..order {
        (0..row - 1).for_each(|column| a.set(row, column, F::default()));
    }
    F::iterate(&mut a, &mut vectors, MAX_STEPS_PER_EIGENVALUE * order)?;
    Some(Schur { form: a, vectors })
}

impl<F: Field> Schur<F> {
    /// The eigenvalues from the first row to the last; of a pair the one with the positive imaginary part comes first.
    pub(in crate::eval) fn values(&self) -> Vec<Complex64> {
        let t = &self.form;
        let imaginary = |row: usize| t.at(row, row + 1).size().sqrt() * t.at(row + 1, row).size().sqrt();
        let value = |row: usize| {
            let own = Complex::new(t.at(row, row).re(), t.at(row, row).im());
            match self.is_pair(row) {
                true => own + Complex::new(0.0, imaginary(row)),
                false if row > 0 && self.is_pair(row - 1) => own - Complex::new(0.0, imaginary(row - 1)),
                false => own,
            }
        };
        (0..t.rows).map(value).collect()
    }

    /// Whether a row and the next are one block.
    pub(super) fn is_pair(&self, row: usize) -> bool {
        row + 1 < self.form.rows && self.form.at(row + 1, row) != F::default()
    }
}

/// The first row of the block that ends in a row: what is left of it is negligible (Ahues and Tisseur, 1997), and made zero.
pub(super) fn split<F: Field>(h: &mut Matrix<F>, last: usize) -> usize {
    for row in (1..=last).rev() {
        let beside = h.at(row, row - 1).size();
        if beside > NOTHING {
            let (above, own) = (h.at(row - 1, row - 1), h.at(row, row));
            let mut near = above.size() + own.size();
            if near == 0.0 {
                near += if row >= 2 { h.at(row - 1, row - 2).size() } else { 0.0 };
                near += if row + 1 < h.rows { h.at(row + 1, row).size() } else { 0.0 };
            }
            if beside > f64::EPSILON * near {
                continue;
            }
            let other = h.at(row - 1, row).size();
            let (more, less) = (beside.max(other), beside.min(other));
            let apart = (above - own).size();
            let (high, low) = (own.size().max(apart), own.size().min(apart));
            let sum = high + more;
            if less * (more / sum) > (f64::EPSILON * (low * (high / sum))).max(NOTHING) {
                continue;
            }
        }
        h.set(row, row - 1, F::default());
        return row;
    }
    0
}
