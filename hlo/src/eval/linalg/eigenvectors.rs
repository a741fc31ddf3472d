//! Eigenvalues and eigenvectors of square matrices, from their Schur decomposition.

use super::balance::balance;
use super::matrix::{is_finite, tame};
use super::schur::{NOTHING, Schur, Spectral, unbalanced_schur};
use super::{Field, Matrix};
use num_complex::{Complex, Complex64};

/// What `a v = λ v` and `uᴴ a = λ uᴴ` hold for.
pub(in crate::eval) struct Spectrum {
    /// Of a real matrix those that are not real come in pairs of conjugates, the one with the positive imaginary part first.
    pub(in crate::eval) values: Vec<Complex64>,
    /// A column `v` for each value.
    pub(in crate::eval) right: Option<Matrix<Complex64>>,
    /// A column `u` for each value.
    pub(in crate::eval) left: Option<Matrix<Complex64>>,
}

/// Eigenvalues, and eigenvectors on demand; `None` where they are not found, as of a matrix with NaN. Each vector has the length
/// 1, and the first of its largest elements is real; those of real eigenvalues of a real matrix are real.
pub(in crate::eval) fn spectrum<F: Spectral>(mut a: Matrix<F>, left: bool, right: bool) -> Option<Spectrum> {
    if !is_finite(&a) {
        return None;
    }
    let undo = tame(&mut a);
    let balance = balance(&mut a, true);
    let schur = unbalanced_schur(a)?;
    let values = schur.values();
    let finished = |mut vectors: Matrix<Complex64>, left: bool| {
        balance.undo(&mut vectors, left);
        normalize::<F>(&mut vectors, &values);
        vectors
    };
    let right = right.then(|| finished(vectors(&complex(&schur.form), &complex(&schur.vectors), &values), false));
    let left = left.then(|| finished(left_vectors(&schur, &values), true));
    Some(Spectrum { values: values.into_iter().map(|value| value.times(undo)).collect(), right, left })
}

fn complex<F: Field>(a: &Matrix<F>) -> Matrix<Complex64> {
    let elements = a.elements.iter().map(|value| Complex::new(value.re(), value.im())).collect();
    Matrix { rows: a.rows, columns: a.columns, elements }
}

/// Those on the left are those on the right of the adjoint, which has Schur's form in the opposite order of coordinates.
fn left_vectors<F: Field>(schur: &Schur<F>, values: &[Complex64]) -> Matrix<Complex64> {
    let (form, own) = (complex(&schur.form), complex(&schur.vectors));
    let reversed = |a: &Matrix<Complex64>| {
        let mut reversed = a.clone();
        reversed.elements.chunks_mut(a.columns.max(1)).for_each(<[Complex64]>::reverse);
        reversed
    };
    let conjugates: Vec<Complex64> = values.iter().rev().map(|value| value.conj()).collect();
    reversed(&vectors(&form.adjoint().flipped(), &reversed(&own), &conjugates))
}

/// A vector for each eigenvalue of `z t zᴴ`.
fn vectors(t: &Matrix<Complex64>, z: &Matrix<Complex64>, values: &[Complex64]) -> Matrix<Complex64> {
    let order = t.rows;
    let mut vectors = Matrix::zeros(order, order);
    let mut column = 0;
    while column < order {
        let is_pair = column + 1 < order && t.at(column + 1, column) != Complex64::default();
        let width = if is_pair { 2 } else { 1 };
        let x = Solver { t, value: values[column] }.null_vector(column, width);
        for row in 0..order {
            let element = x.iter().enumerate().fold(Complex64::default(), |sum, (at, &x)| sum + z.at(row, at) * x);
            vectors.set(row, column, element);
            if is_pair {
                vectors.set(row, column + 1, element.conj());
            }
        }
        column += width;
    }
    vectors
}

/// Divides each vector by its length, and makes the first of its largest elements real: by turning all elements of vectors that
/// are complex.
fn normalize<F: Field>(vectors: &mut Matrix<Complex64>, values: &[Complex64]) {
    for (column, value) in values.iter().enumerate() {
        let length = vectors.length(column, 0..vectors.rows);
        // Of a NaN or of zeros there is no direction; those stay.
        if length.is_nan() || length <= 0.0 {
            continue;
        }
        let is_real = F::IS_REAL && value.im == 0.0;
        let elements: Vec<Complex64> = (0..vectors.rows).map(|row| vectors.at(row, column).shared(length)).collect();
        let largest = (1..elements.len())
            .fold(0, |best, row| if elements[row].norm_sqr() > elements[best].norm_sqr() { row } else { best });
        let size = elements[largest].length();
        let turn = if is_real { Complex::new(1.0, 0.0) } else { elements[largest].conj().shared(size) };
        for (row, &element) in elements.iter().enumerate() {
            vectors.set(row, column, element * turn);
        }
        if !is_real {
            vectors.set(largest, column, Complex::new(size, 0.0));
        }
    }
}

/// `(t - value) x = 0` for a matrix in Schur's form and one of its eigenvalues.
struct Solver<'a> {
    t: &'a Matrix<Complex64>,
    value: Complex64,
}

/// No element of a vector becomes larger: its products with elements of matrices do not overflow.
const LARGEST: f64 = 1e100;

impl Solver<'_> {
    /// A vector that is zero behind the value's block of one row or two, solved for from there upwards.
    fn null_vector(&self, first: usize, width: usize) -> Vec<Complex64> {
        let t = self.t;
        let one = Complex::new(1.0, 0.0);
        let mut x = vec![Complex64::default(); first + width];
        x[first] = one;
        if width == 2 {
            let (above, below) = (t.at(first, first + 1), t.at(first + 1, first));
            if above.size() >= below.size() {
                x[first + 1] = (self.value - t.at(first, first)).over(above);
            } else {
                x[first] = (self.value - t.at(first + 1, first + 1)).over(below);
                x[first + 1] = one;
            }
        }
        let mut row = first;
        while row > 0 {
            let is_pair = row >= 2 && t.at(row - 1, row - 2) != Complex64::default();
            let block = if is_pair { row - 2 } else { row - 1 };
            for at in block..row {
                x[at] = (row..x.len()).fold(Complex64::default(), |sum, column| sum - t.at(at, column) * x[column]);
            }
            if is_pair {
                self.solve_pair(&mut x, block)
            } else {
                self.solve_one(&mut x, block)
            }
            let largest = x.iter().fold(0f64, |largest, value| largest.max(value.size()));
            if largest > LARGEST {
                x.iter_mut().for_each(|value| *value = value.shared(largest));
            }
            row = block;
        }
        x
    }

    /// What stands for a pivot that rounding has made less: the smallest difference between eigenvalues that is known to be one.
    fn least(&self) -> f64 {
        (f64::EPSILON * self.value.size()).max(NOTHING * self.t.rows as f64)
    }

    fn pivot(&self, pivot: Complex64) -> Complex64 {
        if pivot.size() < self.least() { Complex::new(self.least(), 0.0) } else { pivot }
    }

    /// Replaces the right-hand side in one row by the unknown.
    fn solve_one(&self, x: &mut [Complex64], row: usize) {
        divide(x, row, self.pivot(self.t.at(row, row) - self.value));
    }

    /// Replaces the right-hand sides in two rows by the unknowns, by elimination with the largest pivot of all.
    fn solve_pair(&self, x: &mut [Complex64], row: usize) {
        let own =
            |i: usize, j: usize| self.t.at(row + i, row + j) - if i == j { self.value } else { Complex64::default() };
        let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let (i, j) = places.into_iter().fold((0, 0), |best, place| {
            if own(place.0, place.1).size() > own(best.0, best.1).size() { place } else { best }
        });
        let largest = self.pivot(own(i, j));
        let factor = own(1 - i, j).over(largest);
        let rest = self.pivot(own(1 - i, 1 - j) - factor * own(i, 1 - j));
        // Right-hand sides stand where the unknowns that they are solved for come to be.
        let (side, other) = (x[row + i], x[row + 1 - i] - factor * x[row + i]);
        (x[row + j], x[row + 1 - j]) = (side, other);
        divide(x, row + 1 - j, rest);
        x[row + j] -= own(i, 1 - j) * x[row + 1 - j];
        divide(x, row + j, largest);
    }
}

/// Divides one element, and makes all others less where the quotient would be too large.
fn divide(x: &mut [Complex64], at: usize, divisor: Complex64) {
    let (length, by) = (x[at].length(), divisor.length());
    if length <= by * LARGEST {
        x[at] = x[at].over(divisor);
        return;
    }
    let quotient = x[at].shared(length).over(divisor.shared(by)).times(LARGEST);
    let factor = by * LARGEST / length;
    x.iter_mut().for_each(|value| *value = value.times(factor));
    x[at] = quotient;
}
