//! Arithmetic modulo the prime 2^61 - 1, in which columns of values are hashed and linear systems solved.
//!
//! A hash is a sum of values with fixed weights, so the hash of a sum is the sum of the hashes. The weights are chosen so that
//! every linear form hashes to zero: equal hashes mean equal up to a linear form, but for chance.

use super::super::points::Mixed;

const PRIME: u64 = (1 << 61) - 1;

/// A residue modulo 2^61 - 1.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Residue(u64);

impl Residue {
    pub(super) const ZERO: Residue = Residue(0);
    const ONE: Residue = Residue(1);

    pub(super) fn of(value: i64) -> Residue {
        Residue((i128::from(value)).rem_euclid(i128::from(PRIME)) as u64)
    }

    /// The integer of least magnitude in the class.
    pub(super) fn lift(self) -> i64 {
        if self.0 > PRIME / 2 { self.0 as i64 - PRIME as i64 } else { self.0 as i64 }
    }

    pub(super) fn plus(self, other: Residue) -> Residue {
        let sum = self.0 + other.0;
        Residue(if sum >= PRIME { sum - PRIME } else { sum })
    }

    pub(super) fn minus(self, other: Residue) -> Residue {
        self.plus(Residue(if other.0 == 0 { 0 } else { PRIME - other.0 }))
    }

    pub(super) fn times(self, other: Residue) -> Residue {
        let product = u128::from(self.0) * u128::from(other.0);
        let folded = (product as u64 & PRIME) + (product >> 61) as u64;
        Residue(if folded >= PRIME { folded - PRIME } else { folded })
    }

    /// The inverse, by Fermat's little theorem; zero for zero.
    pub(super) fn inverse(self) -> Residue {
        let (mut power, mut result, mut exponent) = (self, Residue::ONE, PRIME - 2);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(power);
            }
            power = power.times(power);
            exponent >>= 1;
        }
        result
    }
}

/// Rows in echelon form; each has a one at its pivot and zeros at the pivots of the others.
struct Echelon {
    rows: Vec<(usize, Vec<Residue>)>,
}

impl Echelon {
    fn of(rows: impl IntoIterator<Item = Vec<Residue>>) -> Echelon {
        let mut echelon = Echelon { rows: Vec::new() };
        for row in rows {
            echelon.insert(row);
        }
        echelon
    }

    fn insert(&mut self, mut row: Vec<Residue>) {
        for (pivot, other) in &self.rows {
            let factor = row[*pivot];
            subtract(&mut row, other, factor);
        }
        let Some(pivot) = row.iter().position(|v| *v != Residue::ZERO) else { return };
        let scale = row[pivot].inverse();
        row.iter_mut().for_each(|v| *v = v.times(scale));
        for (_, other) in &mut self.rows {
            let factor = other[pivot];
            subtract(other, &row, factor);
        }
        self.rows.push((pivot, row));
    }
}

fn subtract(row: &mut [Residue], other: &[Residue], factor: Residue) {
    if factor != Residue::ZERO {
        row.iter_mut().zip(other).for_each(|(a, b)| *a = a.minus(factor.times(*b)));
    }
}

/// Weights under which each column sums to zero, and so does the constant.
pub(super) fn weights(columns: &[Vec<i64>], points: usize) -> Vec<Residue> {
    let constant = vec![Residue::ONE; points];
    let rows = columns.iter().map(|c| c.iter().map(|v| Residue::of(*v)).collect());
    let echelon = Echelon::of(std::iter::once(constant).chain(rows));
    let mut mixed = Mixed(7);
    let mut weights: Vec<Residue> = (0..points).map(|_| Residue(mixed.next() >> 4)).collect();
    for (pivot, _) in &echelon.rows {
        weights[*pivot] = Residue::ZERO;
    }
    let dots: Vec<Residue> = echelon.rows.iter().map(|(_, row)| dot(row, &weights)).collect();
    for ((pivot, _), dot) in echelon.rows.iter().zip(dots) {
        weights[*pivot] = Residue::ZERO.minus(dot);
    }
    weights
}

fn dot(a: &[Residue], b: &[Residue]) -> Residue {
    a.iter().zip(b).fold(Residue::ZERO, |sum, (x, y)| sum.plus(x.times(*y)))
}

/// The weighted sum of a column.
pub(super) fn hash(column: &[i64], weights: &[Residue]) -> Residue {
    column.iter().zip(weights).fold(Residue::ZERO, |sum, (v, w)| sum.plus(Residue::of(*v).times(*w)))
}

/// The constant and the factors with `constant + Σ factor · column = target`, where there are small ones.
pub(super) fn fit(columns: &[&Vec<i64>], target: &[i64]) -> Option<(i64, Vec<i64>)> {
    let row = |(i, t): (usize, &i64)| {
        let values = columns.iter().map(|c| Residue::of(c[i]));
        std::iter::once(Residue::ONE).chain(values).chain([Residue::of(*t)]).collect()
    };
    let echelon = Echelon::of(target.iter().enumerate().map(row));
    let mut solution = vec![0; columns.len() + 1];
    for (pivot, row) in &echelon.rows {
        // A pivot in the last place says 0 = 1: the target is no such sum.
        *solution.get_mut(*pivot)? = row.last()?.lift();
    }
    let (constant, factors) = (solution[0], solution[1..].to_vec());
    let exact = |(i, t): (usize, &i64)| {
        let products = factors.iter().zip(columns).map(|(f, c)| i128::from(*f) * i128::from(c[i]));
        i128::from(constant) + products.sum::<i128>() == i128::from(*t)
    };
    target.iter().enumerate().all(exact).then_some((constant, factors))
}
