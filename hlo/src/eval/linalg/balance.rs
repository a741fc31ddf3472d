//! Balancing a matrix before its eigenvalues are computed (Parlett and Reinsch, 1969; James, Langou and Lowery, 2014).

use super::{Field, Matrix};

/// How a matrix was balanced.
pub(super) struct Balance {
    /// Rows and columns that were exchanged, in this order.
    exchanges: Vec<(usize, usize)>,
    /// What each column was multiplied by, each row divided by: powers of two.
    factors: Vec<f64>,
}

/// Exchanges rows, and columns alike, so that eigenvalues which can be read off come last and first, and on demand multiplies
/// columns so that each is about as long as its row.
pub(super) fn balance<F: Field>(a: &mut Matrix<F>, scale: bool) -> Balance {
    let mut balance = Balance { exchanges: Vec::new(), factors: vec![1.0; a.rows] };
    let (mut low, mut high) = (0, a.rows);
    while let Some(row) = (low..high).rev().find(|&row| (0..high).all(|j| j == row || a.at(row, j) == F::default())) {
        high -= 1;
        balance.exchange(a, row, high);
    }
    while let Some(column) =
        (low..high).find(|&column| (low..high).all(|i| i == column || a.at(i, column) == F::default()))
    {
        balance.exchange(a, column, low);
        low += 1;
    }
    while scale && balance.scaled(a, low, high) {}
    balance
}

impl Balance {
    fn exchange<F: Field>(&mut self, a: &mut Matrix<F>, one: usize, other: usize) {
        self.exchanges.push((one, other));
        a.exchange_columns(one, other, 0..a.rows);
        a.exchange_rows(one, other, 0..a.columns);
    }

    /// Multiplies each column from `low` to `high` that is much longer or shorter than its row; says whether there was one.
    fn scaled<F: Field>(&mut self, a: &mut Matrix<F>, low: usize, high: usize) -> bool {
        let mut found = false;
        for at in low..high {
            let column = a.length(at, low..high);
            let row = (low..high).fold(0.0, |length, j| libm::hypot(length, a.at(at, j).length()));
            if column == 0.0 || row == 0.0 {
                continue;
            }
            let (mut factor, mut c, mut r) = (1.0, column, row);
            while c < r / 2.0 && factor < MAX_FACTOR {
                (factor, c, r) = (factor * 2.0, c * 2.0, r / 2.0);
            }
            while c / 2.0 >= r && factor > 1.0 / MAX_FACTOR {
                (factor, c, r) = (factor / 2.0, c / 2.0, r * 2.0);
            }
            let all = self.factors[at] * factor;
            // Less than five hundredths are not worth it.
            if c + r >= 0.95 * (column + row) || !(1.0 / MAX_FACTOR..=MAX_FACTOR).contains(&all) {
                continue;
            }
            found = true;
            self.factors[at] = all;
            (0..a.columns).for_each(|j| a.set(at, j, a.at(at, j).shared(factor)));
            (0..a.rows).for_each(|i| a.set(i, at, a.at(i, at).times(factor)));
        }
        found
    }

    /// Turns vectors, which are columns, in the balanced coordinates into those in the coordinates before; `left` are vectors
    /// that stand on the left of the matrix.
    pub(super) fn undo<F: Field>(&self, vectors: &mut Matrix<F>, left: bool) {
        for (row, &factor) in self.factors.iter().enumerate() {
            let factor = if left { 1.0 / factor } else { factor };
            (0..vectors.columns).for_each(|column| vectors.set(row, column, vectors.at(row, column).times(factor)));
        }
        for &(one, other) in self.exchanges.iter().rev() {
            vectors.exchange_rows(one, other, 0..vectors.columns);
        }
    }
}

/// 2¹⁰⁰: by more no column is multiplied or divided, so that nothing leaves the range of numbers.
const MAX_FACTOR: f64 = f64::from_bits((1023 + 100) << 52);
