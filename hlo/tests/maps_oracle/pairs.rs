//! Relations of cells, as the pairs that belong to them.

/// Which cells of one array belong to each cell of another, both by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pairs {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    held: Vec<bool>,
}

impl Pairs {
    pub(crate) fn none(rows: usize, columns: usize) -> Pairs {
        Pairs { rows, columns, held: vec![false; rows * columns] }
    }

    pub(crate) fn all(rows: usize, columns: usize) -> Pairs {
        Pairs { rows, columns, held: vec![true; rows * columns] }
    }

    /// Each cell with itself.
    pub(crate) fn diagonal(count: usize) -> Pairs {
        let mut pairs = Pairs::none(count, count);
        (0..count).for_each(|at| pairs.add(at, at));
        pairs
    }

    pub(crate) fn add(&mut self, row: usize, column: usize) {
        assert!(row < self.rows && column < self.columns, "a cell lies outside of its array");
        self.held[row * self.columns + column] = true;
    }

    pub(crate) fn holds(&self, row: usize, column: usize) -> bool {
        self.held[row * self.columns + column]
    }

    pub(crate) fn row(&self, row: usize) -> &[bool] {
        &self.held[row * self.columns..(row + 1) * self.columns]
    }

    /// How many pairs there are.
    pub(crate) fn size(&self) -> usize {
        self.held.iter().filter(|held| **held).count()
    }

    /// Adds all pairs of another relation of the same arrays.
    pub(crate) fn join(&mut self, other: &Pairs) {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns));
        self.held.iter_mut().zip(&other.held).for_each(|(own, other)| *own |= other);
    }

    /// Columns as rows.
    pub(crate) fn inverse(&self) -> Pairs {
        let mut inverse = Pairs::none(self.columns, self.rows);
        for row in 0..self.rows {
            (0..self.columns).filter(|&column| self.holds(row, column)).for_each(|column| inverse.add(column, row));
        }
        inverse
    }

    /// What is reached by one step of this relation and then one of another.
    pub(crate) fn then(&self, next: &Pairs) -> Pairs {
        assert_eq!(self.columns, next.rows);
        let mut reached = Pairs::none(self.rows, next.columns);
        for row in 0..self.rows {
            for middle in (0..self.columns).filter(|&middle| self.holds(row, middle)) {
                let to = &mut reached.held[row * next.columns..(row + 1) * next.columns];
                to.iter_mut().zip(next.row(middle)).for_each(|(own, other)| *own |= other);
            }
        }
        reached
    }

    /// A pair of this relation that another one does not hold.
    pub(crate) fn beyond(&self, other: &Pairs) -> Option<(usize, usize)> {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns));
        let at = self.held.iter().zip(&other.held).position(|(own, other)| *own && !other)?;
        Some((at / self.columns, at % self.columns))
    }
}
