//! Reduction of a Hermitian matrix to a real tridiagonal one, by Householder reflections.

use super::householder::Reflection;
use super::{Field, Matrix};

/// The tridiagonal matrix that a Hermitian matrix is reduced to.
pub(in crate::eval) struct Tridiagonal<F> {
    pub(in crate::eval) diagonal: Vec<f64>,
    /// Below the diagonal, and above it.
    pub(in crate::eval) beside: Vec<f64>,
    /// The factors `tau` of the reflections that change the coordinates.
    pub(in crate::eval) taus: Vec<F>,
}

/// Makes `qᴴ a q` of a Hermitian matrix given by its lower triangle, which is replaced by what comes out on the diagonal and
/// beside it, and by the vectors of the reflections whose product is `q` below that. The other triangle stays what it was.
pub(in crate::eval) fn tridiagonal<F: Field>(a: &mut Matrix<F>) -> Tridiagonal<F> {
    let order = a.rows;
    let mut found = Tridiagonal { diagonal: Vec::new(), beside: Vec::new(), taus: Vec::new() };
    (0..order).for_each(|at| a.set(at, at, F::of_real(a.at(at, at).re())));
    for column in 0..order.saturating_sub(1) {
        let first = column + 1;
        let made = Reflection::make(a, column, first..order);
        found.beside.push(a.at(first, column).re());
        found.taus.push(made.tau);
        if made.tau == F::default() {
            continue;
        }
        // hᴴ a h = a - v wᴴ - w vᴴ, where x = tau a v and w = x - tau (xᴴ v) v / 2.
        let v = made.vector();
        let element = |row: usize, column: usize| match row >= column {
            true => a.at(row, column),
            false => a.at(column, row).conjugate(),
        };
        let times = |row| (first..order).zip(v).fold(F::default(), |sum, (at, &v)| sum + element(row, at) * v);
        let mut w: Vec<F> = (first..order).map(|row| made.tau * times(row)).collect();
        let product = w.iter().zip(v).fold(F::default(), |sum, (x, &v)| sum + x.conjugate() * v);
        let half = (made.tau * product).times(0.5);
        w.iter_mut().zip(v).for_each(|(x, &v)| *x = *x - half * v);
        for i in 0..v.len() {
            for j in 0..=i {
                let value = a.at(first + i, first + j) - v[i] * w[j].conjugate() - w[i] * v[j].conjugate();
                // Rounding leaves an imaginary part on the diagonal.
                a.set(first + i, first + j, if i == j { F::of_real(value.re()) } else { value });
            }
        }
    }
    found.diagonal = (0..order).map(|at| a.at(at, at).re()).collect();
    found
}
