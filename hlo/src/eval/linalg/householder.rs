//! Householder's reflections, with LAPACK's conventions: `h = 1 - tau v vᴴ`, where the first element of `v` that is not zero
//! is a one that is not stored.

use super::{Field, Matrix};

/// Factors `a = q r` in place: `r` from the diagonal on, below it the vectors whose reflections' product is `q`. Returns each
/// reflection's `tau`. The diagonal of `r` is real; its elements have the sign that is not that of what was there.
pub(in crate::eval) fn qr<F: Field>(a: &mut Matrix<F>) -> Vec<F> {
    let mut taus = Vec::new();
    for step in 0..a.rows.min(a.columns) {
        let tau = reflection(a, step);
        taus.push(tau);
        for column in step + 1..a.columns {
            reflect(a, step, tau.conjugate(), column, None);
        }
    }
    taus
}

/// Turns what is below the diagonal of a column into the vector of the reflection that makes it zero, the diagonal into what
/// that leaves there.
fn reflection<F: Field>(a: &mut Matrix<F>, step: usize) -> F {
    let alpha = a.at(step, step);
    let below = (step + 1..a.rows).fold(0f64, |length, row| length.hypot(a.at(row, step).length()));
    if below == 0.0 && alpha.im() == 0.0 {
        return F::default();
    }
    let beta = -alpha.length().hypot(below).copysign(alpha.re());
    for row in step + 1..a.rows {
        a.set(row, step, a.at(row, step) / (alpha - F::of_real(beta)));
    }
    a.set(step, step, F::of_real(beta));
    F::of_parts((beta - alpha.re()) / beta, -alpha.im() / beta)
}

/// Takes `tau v vᴴ` times a column from the column, of `a` or of another matrix; `v` is that of a step in `a`.
fn reflect<F: Field>(a: &mut Matrix<F>, step: usize, tau: F, column: usize, other: Option<&mut Matrix<F>>) {
    let v = |a: &Matrix<F>, row: usize| if row == step { F::of_real(1.0) } else { a.at(row, step) };
    match other {
        None => {
            let product = (step..a.rows).fold(F::default(), |sum, row| sum + v(a, row).conjugate() * a.at(row, column));
            for row in step..a.rows {
                a.set(row, column, a.at(row, column) - tau * v(a, row) * product);
            }
        }
        Some(other) => {
            let product =
                (step..a.rows).fold(F::default(), |sum, row| sum + v(a, row).conjugate() * other.at(row, column));
            for row in step..a.rows {
                other.set(row, column, other.at(row, column) - tau * v(a, row) * product);
            }
        }
    }
}

/// The first columns of the product of the reflections, as many as `a` has, whose vectors are below its diagonal.
pub(in crate::eval) fn product<F: Field>(a: &mut Matrix<F>, taus: &[F]) -> Matrix<F> {
    let mut q = Matrix::identity(a.rows, a.columns);
    for (step, &tau) in taus.iter().enumerate().take(a.rows.min(a.columns)).rev() {
        for column in 0..q.columns {
            reflect(a, step, tau, column, Some(&mut q));
        }
    }
    q
}
