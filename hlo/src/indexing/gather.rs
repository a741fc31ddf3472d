//! Indexing maps of gather.

use super::context::{InstructionContext, OperationMaps, dim, index, next_range, number};
use super::{Direction, Relation};
use weft_affine::{Expr, Interval};
use weft_indexing::{IndexingMap, RuntimeVariable, Variable};

/// How the dimensions of a gather's operand, indices and result, or of a scatter's operand, indices and updates, belong
/// together.
///
/// Both have one array, here the *windows*, in which slices of the operand lie side by side: the result of a gather, the updates
/// of a scatter.
pub(super) struct Windows<'a> {
    /// Dimensions of the windows' array that lie within a slice (`offset_dims`, `update_window_dims`).
    pub(super) within: &'a [i64],
    /// Dimensions of the operand that a slice has one element in, without a dimension among the windows'
    /// (`collapsed_slice_dims`, `inserted_window_dims`).
    pub(super) dropped: &'a [i64],
    /// For each component of a start the operand's dimension.
    pub(super) mapped: &'a [i64],
    /// Batch dimensions of the operand, and those of the indices.
    pub(super) operand_batch: &'a [i64],
    pub(super) indices_batch: &'a [i64],
    /// Where components of a start lie.
    pub(super) index_vector: i64,
    /// Extents of a slice, for each dimension of the operand.
    pub(super) sizes: Vec<i64>,
    /// The extents of the operand and of the indices, and the rank of the windows' array.
    pub(super) operand: &'a [i64],
    pub(super) indices: &'a [i64],
    pub(super) rank: usize,
}

impl Windows<'_> {
    fn is_within(&self, dimension: usize) -> bool {
        self.within.iter().any(|&own| index(own) == dimension)
    }

    /// The windows' dimensions that say which slice, with the dimension of the indices that each belongs to.
    pub(super) fn batch(&self) -> Vec<(usize, usize)> {
        let which = (0..self.rank).filter(|&dimension| !self.is_within(dimension));
        let indices = (0..self.indices.len()).filter(|&dimension| dimension != index(self.index_vector));
        which.zip(indices).collect()
    }

    /// The batch dimensions of the operand, each with the dimension of the indices that it goes with.
    pub(super) fn shared_batch(&self) -> Vec<(usize, usize)> {
        self.operand_batch.iter().zip(self.indices_batch).map(|(&own, &of)| (index(own), index(of))).collect()
    }

    /// For each dimension of the operand that slices have, the windows' dimension that lies along it.
    fn along(&self) -> Vec<Option<usize>> {
        let mut within = (0..self.rank).filter(|&dimension| self.is_within(dimension));
        let is_dropped =
            |dimension: usize| self.dropped.iter().chain(self.operand_batch).any(|&own| index(own) == dimension);
        (0..self.operand.len()).map(|dimension| if is_dropped(dimension) { None } else { within.next() }).collect()
    }

    /// For a batch dimension of the operand the windows' dimension that it belongs to.
    fn batch_of(&self, dimension: usize) -> Option<usize> {
        let position = self.operand_batch.iter().position(|&own| index(own) == dimension)?;
        let of_indices = index(*self.indices_batch.get(position)?);
        self.batch().into_iter().find(|(_, of)| *of == of_indices).map(|(own, _)| own)
    }

    /// The component of a start that belongs to a dimension of the operand.
    fn component(&self, dimension: usize) -> Option<usize> {
        self.mapped.iter().position(|&own| index(own) == dimension)
    }

    /// The starts of the slice that `which` chooses, an index for each dimension of the windows that says which slice:
    /// elements of operand number `indices` of the instruction.
    fn starts(
        &self,
        context: &InstructionContext<'_>,
        indices: usize,
        which: &dyn Fn(usize) -> Expr,
    ) -> Vec<RuntimeVariable> {
        let batch = self.batch();
        let start = |(position, &dimension): (usize, &i64)| {
            let component = |of: usize| batch.iter().find(|(_, own)| *own == of).map(|(own, _)| which(*own));
            let position = i64::try_from(position).unwrap_or(i64::MAX);
            let access = (0..self.indices.len()).map(|of| component(of).unwrap_or_else(|| Expr::constant(position)));
            let dimension = index(dimension);
            context.clamped_start(indices, access.collect(), self.operand[dimension], self.sizes[dimension])
        };
        self.mapped.iter().enumerate().map(start).collect()
    }

    /// From an index of the windows' array to the element of the operand that lies there.
    pub(super) fn operand_at_windows(
        &self,
        context: &InstructionContext<'_>,
        indices: usize,
        windows: &[i64],
    ) -> Result<IndexingMap, super::Undefined> {
        let runtime = self.starts(context, indices, &dim);
        let mut results = Vec::with_capacity(self.operand.len());
        for (dimension, along) in self.along().into_iter().enumerate() {
            let within = match (along, self.batch_of(dimension)) {
                (Some(own), _) | (None, Some(own)) => dim(own),
                (None, None) => Expr::constant(0),
            };
            results.push(match self.component(dimension) {
                Some(position) => within.checked_add(&Expr::runtime(number(position)))?,
                None => within,
            });
        }
        let dims = windows.iter().map(|extent| Variable::new(Interval::of_extent(*extent))).collect();
        Ok(IndexingMap::try_new(dims, Vec::new(), runtime, results, Vec::new())?)
    }

    /// From an index of the operand to the places of the windows' array at which its element lies: range variables run over
    /// the slices.
    pub(super) fn windows_at_operand(
        &self,
        context: &InstructionContext<'_>,
        indices: usize,
        windows: &[i64],
    ) -> Result<IndexingMap, super::Undefined> {
        let mut ranges = Vec::new();
        let mut results: Vec<Option<Expr>> = vec![None; self.rank];
        for dimension in 0..self.operand.len() {
            if let Some(own) = self.batch_of(dimension) {
                results[own] = Some(dim(dimension));
            }
        }
        for (own, _) in self.batch() {
            if results[own].is_none() {
                results[own] = Some(next_range(&mut ranges, windows[own]));
            }
        }
        let which = |own: usize| results[own].clone().unwrap_or_else(|| Expr::constant(0));
        let runtime = self.starts(context, indices, &which);
        let variables = |extents: &[i64]| extents.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
        let mut map =
            IndexingMap::try_new(variables(self.operand), variables(&ranges), runtime, Vec::new(), Vec::new())?;
        for (dimension, along) in self.along().into_iter().enumerate() {
            let start = match self.component(dimension) {
                Some(position) => Expr::runtime(number(position)),
                None => Expr::constant(0),
            };
            let within = dim(dimension).checked_sub(&start)?;
            if self.batch_of(dimension).is_none() {
                map.add_constraint(within.clone(), Interval::of_extent(self.sizes[dimension]))?;
            }
            if let Some(own) = along {
                results[own] = Some(within);
            }
        }
        map.set_results(results.into_iter().map(|result| result.unwrap_or_else(|| Expr::constant(0))).collect())?;
        Ok(map)
    }
}

/// The result's slices are the windows.
pub(super) fn gather(context: &InstructionContext<'_>, windows: &Windows<'_>) -> OperationMaps {
    let result = context.result(0);
    let of_operand = if windows.sizes.contains(&0) {
        // Where the dimension is dropped, a slice without elements still leaves some of the result.
        context.on(0, 0, Relation::Maps(Vec::new()))
    } else if context.is_backward() {
        context.on(0, 0, windows.operand_at_windows(context, 1, result)?)
    } else {
        context.on(0, 0, windows.windows_at_operand(context, 1, result)?)
    };
    Ok(vec![of_operand, context.matched(0, 1, &windows.batch())])
}

/// Of `n` operands, the indices and `n` updates. Every result depends on all operands and updates alike, since one
/// computation combines them.
pub(super) fn scatter(context: &InstructionContext<'_>, windows: &Windows<'_>) -> OperationMaps {
    let inputs = context.operands() / 2;
    let mut found = Vec::new();
    for result in 0..inputs {
        for operand in 0..inputs {
            found.push(context.same(result, operand));
        }
        // Whether an element is updated, every start of its batch has a say in.
        found.push(context.matched(result, inputs, &windows.shared_batch()));
        for operand in inputs + 1..context.operands() {
            let updates = context.operand(operand);
            let mut map = match context.direction {
                Direction::OutputToInput => windows.windows_at_operand(context, inputs, updates)?,
                Direction::InputToOutput => windows.operand_at_windows(context, inputs, updates)?,
            };
            drop_out_of_bounds(&mut map)?;
            found.push(context.on(result, operand, map));
        }
    }
    Ok(found)
}

/// A window that does not lie within the operand is left out, where gather would move it.
fn drop_out_of_bounds(map: &mut IndexingMap) -> Result<(), weft_indexing::Error> {
    map.set_runtime(map.runtime().iter().cloned().map(RuntimeVariable::dropping).collect())
}
