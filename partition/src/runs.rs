//! Scatters of rows at ascending indices.

use weft_affine::{Expr, Interval};
use weft_hlo::indexing::Owners;
use weft_hlo::ir::{Computation, InstrId, Instruction, Op};
use weft_indexing::{Error, IndexingMap, RuntimeVariable, Variable};

/// Rows of fewer are gone through one by one.
const FEW: i64 = 16;

/// A scatter of rows, of single elements along one dimension of the operands, at indices that ascend: the updates of an element are a run of rows, which it finds by halves.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// How many rows there are.
    pub rows: i64,
    /// The dimension of the operands that indices are for, and its extent.
    pub dimension: usize,
    /// The extent of that dimension.
    pub places: i64,
    /// The extents of a row, for each dimension of the operands.
    pub sizes: Vec<i64>,
    indices: InstrId,
    /// How many dimensions the indices have, and along which of them components lie.
    index_rank: usize,
    index_vector: Option<usize>,
    /// For each dimension of the updates the one of the operands that it lies along, `None` for that of rows.
    along: Vec<Option<usize>>,
    operand: Vec<i64>,
}

impl Runs {
    /// Rows that kernels go through at most: all of them may be one run.
    pub const MOST: i64 = 32 * Runs::OF_ROUNDS;

    /// Rows of which a kernel goes through one in a round; of more it goes through several. An invocation computes up to 8 elements one after the other, and drivers leave loops
    /// after 65,535 rounds.
    pub const OF_ROUNDS: i64 = 6144;

    /// That of a scatter; `None` for others, and for a few rows.
    pub fn of(computation: &Computation, scatter: &Instruction) -> Option<Runs> {
        let Op::Scatter {
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            input_batching_dims,
            index_vector_dim,
            indices_are_sorted: true,
            ..
        } = &scatter.op
        else {
            return None;
        };
        let extents = |id: &InstrId| computation.instructions[*id].shape.as_array().map(|array| array.extents.clone());
        let inputs = scatter.operands.len() / 2;
        let (operand, index, updates) = (
            extents(&scatter.operands[0])?,
            extents(&scatter.operands[inputs])?,
            extents(&scatter.operands[inputs + 1])?,
        );
        let [dimension] = scatter_dims_to_operand_dims[..] else { return None };
        let dimension = usize::try_from(dimension).ok()?;
        let index_vector = usize::try_from(*index_vector_dim).ok().filter(|vector| *vector < index.len());
        let is_line = index.len() == 1 + usize::from(index_vector.is_some());
        if !is_line || !input_batching_dims.is_empty() {
            return None;
        }
        let mut sizes = vec![1; operand.len()];
        let mut along = vec![None; updates.len()];
        let kept = (0..operand.len()).filter(|own| !inserted_window_dims.contains(&(*own as i64)));
        for (own, window) in kept.zip(update_window_dims) {
            let window = usize::try_from(*window).ok()?;
            sizes[own] = *updates.get(window)?;
            along[window] = Some(own);
        }
        let row = along.iter().position(Option::is_none)?;
        let rows = updates[row];
        let fits = sizes.iter().zip(&operand).all(|(size, extent)| size <= extent && *size > 0);
        let places = *operand.get(dimension)?;
        let (indices, index_rank) = (scatter.operands[inputs], index.len());
        let runs = Runs { rows, dimension, places, sizes, indices, index_rank, index_vector, along, operand };
        (fits && rows > FEW && runs.sizes[dimension] == 1).then_some(runs)
    }

    /// Rows that an element looks at on average: to find its run, and within that.
    pub(crate) fn rounds(&self) -> f64 {
        (self.rows as f64).log2() + self.rows as f64 / self.places as f64
    }

    /// The place of a row's index in the indices.
    pub fn index_access(&self, row: &Expr) -> Vec<Expr> {
        let at = |dimension| if Some(dimension) == self.index_vector { Expr::constant(0) } else { row.clone() };
        (0..self.index_rank).map(at).collect()
    }

    /// The place of the update in a row that is for an element of the operands.
    pub fn update_access(&self, row: &Expr, element: &[Expr]) -> Vec<Expr> {
        let at = |own: &Option<usize>| match own {
            None => row.clone(),
            Some(own) if *own == self.dimension => Expr::constant(0),
            Some(own) => element[*own].clone(),
        };
        self.along.iter().map(at).collect()
    }

    /// From an element of the operands to its update in a row, which a value tells.
    pub(crate) fn updates_map(&self) -> Result<IndexingMap, Error> {
        let element: Vec<Expr> = (0..).take(self.operand.len()).map(Expr::dim).collect();
        let mut map = self.map(self.update_access(&Expr::runtime(0), &element))?;
        for (own, size) in element
            .into_iter()
            .zip(&self.sizes)
            .enumerate()
            .filter(|(own, _)| *own != self.dimension)
            .map(|(_, own)| own)
        {
            map.add_constraint(own, Interval::of_extent(*size))?;
        }
        Ok(map)
    }

    /// From an element of the operands to the index of such a row.
    pub(crate) fn indices_map(&self) -> Result<IndexingMap, Error> {
        self.map(self.index_access(&Expr::runtime(0)))
    }

    fn map(&self, results: Vec<Expr>) -> Result<IndexingMap, Error> {
        let dims = self.operand.iter().map(|extent| Variable::new(Interval::of_extent(*extent))).collect();
        let access = vec![Expr::constant(0); self.index_rank];
        let row = RuntimeVariable::of(Owners::of(self.indices), access, Interval::of_extent(self.rows));
        IndexingMap::try_new(dims, Vec::new(), vec![row], results, Vec::new())
    }
}
