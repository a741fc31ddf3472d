//! The linear form through given points, by elimination without fractions.

use num_integer::gcd;

/// Rows `1, v1, …, vn, e` in echelon form: each has a pivot, which is zero in all others.
pub(super) struct Elimination {
    rows: Vec<(usize, Vec<i128>)>,
    unknowns: usize,
}

/// How the equation of a point stands to those of the points before.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum PointEquation {
    /// It follows from them.
    Dependent,
    /// It does not follow from them.
    Independent,
    /// No linear form goes through all of the points, or the numbers get too large to tell.
    Contradiction,
}

impl Elimination {
    /// For so many variables.
    pub(super) fn new(variables: usize) -> Elimination {
        Elimination { rows: Vec::new(), unknowns: variables + 1 }
    }

    /// True when there is nothing left to be said.
    pub(super) fn is_complete(&self) -> bool {
        self.rows.len() == self.unknowns
    }

    /// The form has this value at this point.
    pub(super) fn add(&mut self, point: &[i64], value: i64) -> PointEquation {
        let mut row: Vec<i128> =
            std::iter::once(1).chain(point.iter().chain([&value]).map(|v| i128::from(*v))).collect();
        for (pivot, known) in &self.rows {
            match reduced(&row, known, *pivot) {
                Some(next) => row = next,
                None => return PointEquation::Contradiction,
            }
        }
        let Some(pivot) = row.iter().take(self.unknowns).position(|x| *x != 0) else {
            return if row.iter().all(|x| *x == 0) { PointEquation::Dependent } else { PointEquation::Contradiction };
        };
        for (_, known) in &mut self.rows {
            match reduced(known, &row, pivot) {
                Some(next) => *known = next,
                None => return PointEquation::Contradiction,
            }
        }
        self.rows.push((pivot, row));
        PointEquation::Independent
    }

    /// The constant and the factors of the variables, those that are free zero; nothing where one is no integer.
    pub(super) fn solution(&self) -> Option<(i64, Vec<i64>)> {
        let mut solution = vec![0; self.unknowns];
        for (pivot, row) in &self.rows {
            let (value, factor) = (*row.last()?, *row.get(*pivot)?);
            if value % factor != 0 {
                return None;
            }
            *solution.get_mut(*pivot)? = i64::try_from(value / factor).ok()?;
        }
        let factors = solution.split_off(1);
        Some((*solution.first()?, factors))
    }
}

/// `row` with a zero at the pivot of `by`, all divided by what they share.
fn reduced(row: &[i128], by: &[i128], pivot: usize) -> Option<Vec<i128>> {
    let (own, other) = (*row.get(pivot)?, *by.get(pivot)?);
    if own == 0 {
        return Some(row.to_vec());
    }
    let entries = row.iter().zip(by).map(|(x, y)| x.checked_mul(other)?.checked_sub(y.checked_mul(own)?));
    let mut entries: Vec<i128> = entries.collect::<Option<_>>()?;
    let shared = entries.iter().fold(0u128, |shared, x| gcd(shared, x.unsigned_abs()));
    if let Some(shared) = i128::try_from(shared).ok().filter(|shared| *shared > 1) {
        entries.iter_mut().for_each(|x| *x /= shared);
    }
    Some(entries)
}
