//! Tridiagonal systems of equations, by Gaussian elimination with partial pivoting.

use super::{Field, Matrix};

/// A square matrix that is zero but on three diagonals.
pub(in crate::eval) struct Bands<F> {
    /// One element less than the diagonal.
    pub(in crate::eval) below: Vec<F>,
    pub(in crate::eval) diagonal: Vec<F>,
    /// One element less than the diagonal.
    pub(in crate::eval) above: Vec<F>,
}

/// What numbers are rounded to.
#[derive(Copy, Clone)]
pub(in crate::eval) struct Precision {
    /// The distance from 1 to the next number.
    epsilon: f64,
    /// The least number that has all digits.
    least: f64,
}

impl Precision {
    /// That of `f32`.
    pub(in crate::eval) const SINGLE: Precision =
        Precision { epsilon: f32::EPSILON as f64, least: f32::MIN_POSITIVE as f64 };
    /// That of `f64`.
    pub(in crate::eval) const DOUBLE: Precision = Precision { epsilon: f64::EPSILON, least: f64::MIN_POSITIVE };
}

/// Replaces the right-hand sides in `x` by the unknowns. Of the factor that is zero below its diagonal three diagonals replace
/// those of the matrix: the farthest that above comes to stand in `below`, which keeps its last element. Returns which pivot,
/// from 1, is zero, or 0; then nothing is solved.
pub(in crate::eval) fn solve_bands<F: Field>(bands: &mut Bands<F>, x: &mut Matrix<F>) -> usize {
    for step in 0..bands.diagonal.len() {
        if bands.is_singular(step) {
            return step + 1;
        }
        bands.eliminate(step, x);
    }
    (0..bands.diagonal.len()).rev().for_each(|row| {
        for column in 0..x.columns {
            let rest = bands.rest(row, column, x);
            x.set(row, column, rest.over(bands.diagonal[row]));
        }
    });
    0
}

/// Replaces the right-hand sides in `x` by the unknowns, where more is added to a pivot, first the epsilon of a precision times the
/// largest element on or above the diagonal, then twice as much each time, as long as the pivot is zero or a quotient by it
/// overflows: what inverse iteration needs, for which only the direction of `x` counts.
pub(in crate::eval) fn solve_perturbed_bands<F: Field>(bands: &mut Bands<F>, x: &mut Matrix<F>, precision: Precision) {
    let order = bands.diagonal.len();
    let elements = bands.diagonal.iter().chain(&bands.above);
    let largest = elements.fold(0f64, |largest, element| largest.max(element.length()));
    let first = (largest * precision.epsilon).max(precision.least);
    (0..order).for_each(|step| bands.eliminate(step, x));
    for row in (0..order).rev() {
        for column in 0..x.columns {
            let rest = bands.rest(row, column, x);
            let mut pivot = bands.diagonal[row];
            let length = pivot.length();
            let direction = match length == 0.0 {
                true => F::of_real(1f64.copysign(pivot.re())),
                false => pivot.shared(length),
            };
            let mut more = first;
            while pivot == F::default() || rest.length() * precision.least > pivot.length() {
                pivot = pivot + direction.times(more);
                more *= 2.0;
            }
            x.set(row, column, rest.over(pivot));
        }
    }
}

impl<F: Field> Bands<F> {
    /// Whether there is nothing to eliminate with.
    fn is_singular(&self, step: usize) -> bool {
        let zero = F::default();
        self.diagonal[step] == zero && self.below.get(step).is_none_or(|&below| below == zero)
    }

    /// Makes the element below a pivot zero, if there is one, and keeps in `below` what an exchange of rows makes of the second
    /// element above the diagonal.
    fn eliminate(&mut self, step: usize, x: &mut Matrix<F>) {
        let Bands { below, diagonal, above } = self;
        if step + 1 == diagonal.len() {
            return;
        }
        let has_second = step + 2 < diagonal.len();
        let is_exchange = below[step].size() > diagonal[step].size();
        let [pivot, other] = if is_exchange { [below[step], diagonal[step]] } else { [diagonal[step], below[step]] };
        let factor = if other == F::default() { other } else { other.over(pivot) };
        let mut second = F::default();
        if is_exchange {
            (diagonal[step], above[step], diagonal[step + 1]) =
                (pivot, diagonal[step + 1], above[step] - factor * diagonal[step + 1]);
            if has_second {
                second = above[step + 1];
                above[step + 1] = -(factor * second);
            }
        } else {
            diagonal[step + 1] = diagonal[step + 1] - factor * above[step];
        }
        if has_second {
            below[step] = second;
        }
        for column in 0..x.columns {
            let (one, two) = (x.at(step, column), x.at(step + 1, column));
            let [one, two] = if is_exchange { [two, one] } else { [one, two] };
            x.set(step, column, one);
            x.set(step + 1, column, two - factor * one);
        }
    }

    /// What the unknowns behind one leave of its right-hand side, after elimination.
    fn rest(&self, row: usize, column: usize, x: &Matrix<F>) -> F {
        let order = self.diagonal.len();
        let mut rest = x.at(row, column);
        if row + 1 < order {
            rest = rest - self.above[row] * x.at(row + 1, column);
        }
        if row + 2 < order {
            rest = rest - self.below[row] * x.at(row + 2, column);
        }
        rest
    }
}
