//! Indexing maps of gather.

use super::context::{InstructionContext, OperationMaps, dim, index, next_range, number};
use super::{Direction, Relation};
use crate::ir::{GatherDimensions, Op};
use weft_affine::{Expr, Interval};
use weft_indexing::{IndexingMap, RuntimeVariable, Variable};

/// The windows of a gather or a scatter: the dimension numbers with the extents of the three arrays.
struct Windows<'a> {
    dimensions: GatherDimensions<'a>,
    /// Extents of a window, for each dimension of the operand.
    sizes: Vec<i64>,
    /// The extents of the operand, of the indices and of the array of windows.
    operand: &'a [i64],
    indices: &'a [i64],
    windows: &'a [i64],
}

impl<'a> Windows<'a> {
    /// Of an instruction whose operand `indices` are the indices, and with this array of windows.
    fn new(context: &InstructionContext<'a>, indices: usize, windows: &'a [i64]) -> Self {
        let (operand, op) = (context.operand(0), &context.instruction.op);
        let Some(dimensions) = op.gather_dimensions() else { unreachable!("only gather and scatter have windows") };
        let sizes = match op {
            Op::Gather { slice_sizes, .. } => slice_sizes.clone(),
            _ => {
                let along = dimensions.along(operand.len(), windows.len());
                along.map(|own| own.map_or(1, |own| windows[own])).collect()
            }
        };
        Windows { dimensions, sizes, operand, indices: context.operand(indices), windows }
    }

    /// The dimensions of the array of windows that number windows, each with the dimension of the indices.
    fn batch(&self) -> Vec<(usize, usize)> {
        let of_indices = self.dimensions.index_batch(self.indices.len());
        self.dimensions.window_batch(self.windows.len()).zip(of_indices).collect()
    }

    /// For each dimension of the operand the dimension of the array of windows that lies along it.
    fn along(&self) -> impl Iterator<Item = Option<usize>> {
        self.dimensions.along(self.operand.len(), self.windows.len())
    }

    /// For a batch dimension of the operand the windows' dimension that it belongs to.
    fn batch_of(&self, dimension: usize) -> Option<usize> {
        let (_, of_indices) = self.dimensions.shared_batch().find(|&(own, _)| own == dimension)?;
        self.batch().into_iter().find(|(_, of)| *of == of_indices).map(|(own, _)| own)
    }

    /// The component of a start that belongs to a dimension of the operand.
    fn component(&self, dimension: usize) -> Option<usize> {
        self.dimensions.index_map.iter().position(|&own| index(own) == dimension)
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
        self.dimensions.index_map.iter().enumerate().map(start).collect()
    }

    /// From an index of the windows' array to the element of the operand that lies there.
    fn operand_at_windows(
        &self,
        context: &InstructionContext<'_>,
        indices: usize,
    ) -> Result<IndexingMap, super::Undefined> {
        let runtime = self.starts(context, indices, &dim);
        let mut results = Vec::with_capacity(self.operand.len());
        for (dimension, along) in self.along().enumerate() {
            let within = match (along, self.batch_of(dimension)) {
                (Some(own), _) | (None, Some(own)) => dim(own),
                (None, None) => Expr::constant(0),
            };
            results.push(match self.component(dimension) {
                Some(position) => within.checked_add(&Expr::runtime(number(position)))?,
                None => within,
            });
        }
        let dims = self.windows.iter().map(|extent| Variable::new(Interval::of_extent(*extent))).collect();
        Ok(IndexingMap::try_new(dims, Vec::new(), runtime, results, Vec::new())?)
    }

    /// From an index of the operand to the places of the windows' array at which its element lies: range variables run over
    /// the slices.
    fn windows_at_operand(
        &self,
        context: &InstructionContext<'_>,
        indices: usize,
    ) -> Result<IndexingMap, super::Undefined> {
        let mut ranges = Vec::new();
        let mut results: Vec<Option<Expr>> = vec![None; self.windows.len()];
        for dimension in 0..self.operand.len() {
            if let Some(own) = self.batch_of(dimension) {
                results[own] = Some(dim(dimension));
            }
        }
        for (own, _) in self.batch() {
            if results[own].is_none() {
                results[own] = Some(next_range(&mut ranges, self.windows[own]));
            }
        }
        let which = |own: usize| results[own].clone().unwrap_or_else(|| Expr::constant(0));
        let runtime = self.starts(context, indices, &which);
        let variables = |extents: &[i64]| extents.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
        let mut map =
            IndexingMap::try_new(variables(self.operand), variables(&ranges), runtime, Vec::new(), Vec::new())?;
        for (dimension, along) in self.along().enumerate() {
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
pub(super) fn gather(context: &InstructionContext<'_>) -> OperationMaps {
    let windows = Windows::new(context, 1, context.result(0));
    let of_operand = if windows.sizes.contains(&0) {
        // Where the dimension is dropped, a slice without elements still leaves some of the result.
        context.on(0, 0, Relation::Maps(Vec::new()))
    } else if context.is_backward() {
        context.on(0, 0, windows.operand_at_windows(context, 1)?)
    } else {
        context.on(0, 0, windows.windows_at_operand(context, 1)?)
    };
    Ok(vec![of_operand, context.matched(0, 1, &windows.batch())])
}

/// Of `n` operands, the indices and `n` updates. Every result depends on all operands and updates alike, since one
/// computation combines them.
pub(super) fn scatter(context: &InstructionContext<'_>) -> OperationMaps {
    let inputs = context.operands() / 2;
    let windows = Windows::new(context, inputs, context.operand(inputs + 1));
    let mut found = Vec::new();
    for result in 0..inputs {
        for operand in 0..inputs {
            found.push(context.same(result, operand));
        }
        // Whether an element is updated, every start of its batch has a say in.
        found.push(context.matched(result, inputs, &windows.dimensions.shared_batch().collect::<Vec<_>>()));
        for operand in inputs + 1..context.operands() {
            let mut map = match context.direction {
                Direction::OutputToInput => windows.windows_at_operand(context, inputs)?,
                Direction::InputToOutput => windows.operand_at_windows(context, inputs)?,
            };
            drop_out_of_bounds(&mut map)?;
            found.push(context.on(result, operand, map));
        }
    }
    Ok(found)
}

/// From an index of the updates of a scatter to the element of the operands that it is for.
pub(super) fn scattered(context: &InstructionContext<'_>) -> Result<IndexingMap, super::Undefined> {
    let inputs = context.operands() / 2;
    let mut map = Windows::new(context, inputs, context.operand(inputs + 1)).operand_at_windows(context, inputs)?;
    drop_out_of_bounds(&mut map)?;
    Ok(map)
}

/// A window that does not lie within the operand is left out, where gather would move it.
fn drop_out_of_bounds(map: &mut IndexingMap) -> Result<(), weft_indexing::Error> {
    map.set_runtime(map.runtime().iter().cloned().map(RuntimeVariable::dropping).collect())
}
