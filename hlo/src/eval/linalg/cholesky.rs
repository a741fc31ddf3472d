//! Cholesky factorization.

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
