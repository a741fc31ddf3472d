//! Householder reflections with LAPACK's conventions: `h = 1 - tau v vᴴ`, where the first element of `v` is 1 and not stored.

use super::{Field, Matrix};
use std::ops::Range;

/// A reflection of some rows, or columns.
pub(super) struct Reflection<F> {
    /// The first of them.
    from: usize,
    vector: Vec<F>,
    pub(super) tau: F,
}

impl<F: Field> Reflection<F> {
    /// The reflection of rows from one on whose adjoint makes a vector that is not empty a multiple of the first unit vector,
    /// and that multiple, which is real; its sign is not that of the vector's first element.
    pub(super) fn of(from: usize, mut vector: Vec<F>) -> (Self, F) {
        let (beta, tau) = reflection(&mut vector);
        (Reflection { from, vector, tau }, beta)
    }

    /// The reflection whose adjoint leaves zeros in a column but in the first of some rows. What it leaves and the vector
    /// replace what was there.
    pub(super) fn make(a: &mut Matrix<F>, column: usize, rows: Range<usize>) -> Self {
        let (made, beta) = Self::of(rows.start, rows.clone().map(|row| a.at(row, column)).collect());
        rows.clone().zip(&made.vector).for_each(|(row, &value)| a.set(row, column, value));
        a.set(rows.start, column, beta);
        made
    }

    /// The reflection whose vector is stored in a column.
    fn stored(a: &Matrix<F>, column: usize, rows: Range<usize>, tau: F) -> Self {
        let from = rows.start;
        let element = |row| if row == from { F::of_real(1.0) } else { a.at(row, column) };
        Reflection { from, vector: rows.map(element).collect(), tau }
    }

    /// The elements of the vector.
    pub(super) fn vector(&self) -> &[F] {
        &self.vector
    }

    /// The inverse.
    pub(super) fn adjoint(self) -> Self {
        Reflection { tau: self.tau.conjugate(), ..self }
    }

    /// Replaces some columns by `h` times these.
    pub(super) fn left_of(&self, a: &mut Matrix<F>, columns: Range<usize>) {
        if self.tau == F::default() {
            return;
        }
        for column in columns {
            let rows = self.vector.iter().zip(self.from..);
            let product = rows.clone().fold(F::default(), |sum, (v, row)| sum + v.conjugate() * a.at(row, column));
            let factor = self.tau * product;
            rows.for_each(|(&v, row)| a.set(row, column, a.at(row, column) - v * factor));
        }
    }

    /// Replaces some rows by these times `h`.
    pub(super) fn right_of(&self, a: &mut Matrix<F>, rows: Range<usize>) {
        if self.tau == F::default() {
            return;
        }
        for row in rows {
            let columns = self.vector.iter().zip(self.from..);
            let product = columns.clone().fold(F::default(), |sum, (&v, column)| sum + a.at(row, column) * v);
            let factor = product * self.tau;
            columns.for_each(|(&v, column)| a.set(row, column, a.at(row, column) - factor * v.conjugate()));
        }
    }
}

/// Turns a vector into that of its reflection. Returns what the first element becomes, and `tau`.
fn reflection<F: Field>(x: &mut [F]) -> (F, F) {
    let largest = x.iter().fold(0f64, |largest, value| largest.max(value.size()));
    // Numbers that have few digits left would make a reflection that is none.
    let scale = if largest < TINY { 1.0 / TINY } else { 1.0 };
    if scale != 1.0 {
        x.iter_mut().for_each(|value| *value = value.times(scale));
    }
    let alpha = x[0];
    let below = x[1..].iter().fold(0f64, |length, value| libm::hypot(length, value.length()));
    x[0] = F::of_real(1.0);
    if below == 0.0 && alpha.im() == 0.0 {
        return (alpha.shared(scale), F::default());
    }
    let beta = -libm::hypot(alpha.length(), below).copysign(alpha.re());
    let divisor = alpha - F::of_real(beta);
    x[1..].iter_mut().for_each(|value| *value = value.over(divisor));
    (F::of_real(beta / scale), F::of_parts((beta - alpha.re()) / beta, -alpha.im() / beta))
}

/// 2⁻⁹⁰⁰.
const TINY: f64 = f64::from_bits((1023 - 900) << 52);

/// Factors `a = q r` in place: `r` from the diagonal on, below it the vectors whose reflections' product is `q`. Returns each
/// reflection's `tau`. The diagonal of `r` is real.
pub(in crate::eval) fn qr<F: Field>(a: &mut Matrix<F>) -> Vec<F> {
    (0..a.rows.min(a.columns)).map(|step| qr_step(a, step)).collect()
}

/// Makes zeros below the diagonal of one column; returns `tau`.
fn qr_step<F: Field>(a: &mut Matrix<F>, step: usize) -> F {
    let made = Reflection::make(a, step, step..a.rows);
    let tau = made.tau;
    made.adjoint().left_of(a, step + 1..a.columns);
    tau
}

/// Factors `a p = q r` in place, as [`qr`] does, where `p` permutes columns so that each step takes the longest of the rest.
///
/// `order` says 0 for a column that is free; others come first, in their order. After that it says which column of `a`, from
/// 1, is where.
pub(in crate::eval) fn pivoted<F: Field>(a: &mut Matrix<F>, order: &mut [i32]) -> Vec<F> {
    let mut fixed = 0;
    for column in 0..a.columns {
        let is_free = order[column] == 0;
        order[column] = column as i32 + 1;
        if !is_free {
            a.exchange_columns(column, fixed, 0..a.rows);
            order.swap(column, fixed);
            fixed += 1;
        }
    }
    let mut taus = Vec::new();
    for step in 0..a.rows.min(a.columns) {
        if step >= fixed {
            let lengths: Vec<f64> = (step..a.columns).map(|column| a.length(column, step..a.rows)).collect();
            let longest = (1..lengths.len()).fold(0, |best, at| if lengths[at] > lengths[best] { at } else { best });
            a.exchange_columns(step, step + longest, 0..a.rows);
            order.swap(step, step + longest);
        }
        taus.push(qr_step(a, step));
    }
    taus
}

/// The first columns of the product of the reflections, as many as `a` has, whose vectors are below its diagonal.
pub(in crate::eval) fn product<F: Field>(a: &Matrix<F>, taus: &[F]) -> Matrix<F> {
    let mut q = Matrix::identity(a.rows, a.columns);
    apply(a, taus, &mut q, true, false);
    q
}

/// Replaces `c` by `q c`, or `c q` unless `from_left`, where `q` is the product of the reflections whose vectors are below the
/// diagonal of `a`, or by its adjoint.
pub(in crate::eval) fn apply<F: Field>(a: &Matrix<F>, taus: &[F], c: &mut Matrix<F>, from_left: bool, adjoint: bool) {
    let count = taus.len().min(a.rows).min(a.columns);
    // The last factor of `q` is the first to meet what stands on its right.
    let last_first = from_left != adjoint;
    for at in 0..count {
        let step = if last_first { count - 1 - at } else { at };
        let stored = Reflection::stored(a, step, step..a.rows, taus[step]);
        let factor = if adjoint { stored.adjoint() } else { stored };
        match from_left {
            true => factor.left_of(c, 0..c.columns),
            false => factor.right_of(c, 0..c.rows),
        }
    }
}

/// Makes `qᴴ a q` of a square matrix in place: zeros below the subdiagonal in the rows and columns of a range, where the vectors
/// of the reflections are then. Returns each reflection's `tau`, one less than there are rows.
pub(in crate::eval) fn hessenberg<F: Field>(a: &mut Matrix<F>, range: Range<usize>) -> Vec<F> {
    let mut taus = vec![F::default(); a.rows.saturating_sub(1)];
    for (column, tau) in taus.iter_mut().enumerate().take(range.end.saturating_sub(1)).skip(range.start) {
        let made = Reflection::make(a, column, column + 1..range.end);
        *tau = made.tau;
        made.right_of(a, 0..range.end);
        made.adjoint().left_of(a, column + 1..a.columns);
    }
    taus
}

/// The product of the reflections of a square matrix whose vectors are below the subdiagonal.
pub(super) fn product_below<F: Field>(a: &Matrix<F>, taus: &[F]) -> Matrix<F> {
    let mut q = Matrix::identity(a.rows, a.rows);
    if a.rows > 0 {
        let inner = product(&a.block(1..a.rows, 0..a.rows - 1), taus);
        for row in 0..inner.rows {
            (0..inner.columns).for_each(|column| q.set(row + 1, column + 1, inner.at(row, column)));
        }
    }
    q
}
