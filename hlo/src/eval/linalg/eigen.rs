//! Eigenvalues of Hermitian matrices, by the implicit QL method (Dubrulle, Martin and Wilkinson, 1968).

use super::householder::product_below;
use super::matrix::{ascending, is_finite, phase, tame};
use super::{Field, Matrix, Tridiagonal, tridiagonal};

/// How many steps may be taken for each eigenvalue on average; two are usual.
const MAX_STEPS_PER_EIGENVALUE: usize = 60;

/// 2⁻²⁰⁰: as a part of the largest element nothing. What reductions leave of matrices without full rank is less by a factor of
/// 2⁵² from row to row, until numbers with few digits are left, which steps do not make less.
const NOTHING: f64 = f64::from_bits((1023 - 200) << 52);

/// A decomposition into real values and vectors, which are the columns.
pub(in crate::eval) struct Eigen<F> {
    pub(in crate::eval) values: Vec<f64>,
    pub(in crate::eval) vectors: Matrix<F>,
}

/// Eigenvalues of a Hermitian matrix given by its lower triangle, ascending, and orthonormal eigenvectors; `None` where they are
/// not found, as of a matrix with NaN. Of a vector's largest elements the first is real and positive.
pub(in crate::eval) fn eigen<F: Field>(mut a: Matrix<F>) -> Option<Eigen<F>> {
    if !is_finite(&a) {
        return None;
    }
    let undo = tame(&mut a);
    let Tridiagonal { mut diagonal, mut beside, taus } = tridiagonal(&mut a);
    let mut vectors = product_below(&a, &taus);
    iterate(&mut diagonal, &mut beside, &mut vectors)?;
    let order = ascending(&diagonal);
    let mut sorted = Matrix::zeros(a.rows, a.rows);
    for (column, &from) in order.iter().enumerate() {
        let phase = phase((0..a.rows).map(|row| vectors.at(row, from)));
        (0..a.rows).for_each(|row| sorted.set(row, column, vectors.at(row, from) * phase));
    }
    Some(Eigen { values: order.iter().map(|&at| diagonal[at] * undo).collect(), vectors: sorted })
}

/// Makes what is beside the diagonal zero, and rotates the columns of `vectors` along; `None` if that does not end.
fn iterate<F: Field>(diagonal: &mut [f64], beside: &mut Vec<f64>, vectors: &mut Matrix<F>) -> Option<()> {
    let order = diagonal.len();
    beside.resize(order, 0.0);
    let largest = diagonal.iter().chain(&*beside).fold(0f64, |largest, value| largest.max(value.abs()));
    let mut steps = MAX_STEPS_PER_EIGENVALUE * order;
    for first in 0..order {
        while let Some(last) = coupled(diagonal, beside, first, largest * NOTHING) {
            steps = steps.checked_sub(1)?;
            step(diagonal, beside, first..=last, vectors);
        }
    }
    Some(())
}

/// The last row of the block that starts in a row, if that is another row; what is no larger than `nothing` does not couple rows.
fn coupled(diagonal: &[f64], beside: &[f64], first: usize, nothing: f64) -> Option<usize> {
    let negligible = |row: usize| {
        let near = diagonal[row].abs() + diagonal[row + 1].abs();
        beside[row].abs() <= (f64::EPSILON * near).max(nothing)
    };
    let last = (first..diagonal.len() - 1).find(|&row| negligible(row)).unwrap_or(diagonal.len() - 1);
    (last > first).then_some(last)
}

/// Rotates a block from its end to its beginning, with a shift by what is near an eigenvalue.
fn step<F: Field>(
    diagonal: &mut [f64],
    beside: &mut [f64],
    block: std::ops::RangeInclusive<usize>,
    vectors: &mut Matrix<F>,
) {
    let (first, last) = (*block.start(), *block.end());
    let ratio = (diagonal[first + 1] - diagonal[first]) / (2.0 * beside[first]);
    let root = libm::hypot(ratio, 1.0);
    let mut rest = diagonal[last] - diagonal[first] + beside[first] / (ratio + root.copysign(ratio));
    let (mut sine, mut cosine, mut shift) = (1.0, 1.0, 0.0);
    for row in (first..last).rev() {
        let (far, near) = (sine * beside[row], cosine * beside[row]);
        let length = libm::hypot(far, rest);
        beside[row + 1] = length;
        if length == 0.0 {
            // The block falls into two.
            diagonal[row + 1] -= shift;
            beside[last] = 0.0;
            return;
        }
        (sine, cosine) = (far / length, rest / length);
        rest = diagonal[row + 1] - shift;
        let mixed = (diagonal[row] - rest) * sine + 2.0 * cosine * near;
        shift = sine * mixed;
        diagonal[row + 1] = rest + shift;
        rest = cosine * mixed - near;
        for at in 0..vectors.rows {
            let (x, y) = (vectors.at(at, row), vectors.at(at, row + 1));
            vectors.set(at, row + 1, x.times(sine) + y.times(cosine));
            vectors.set(at, row, x.times(cosine) - y.times(sine));
        }
    }
    diagonal[first] -= shift;
    beside[first] = rest;
    beside[last] = 0.0;
}
