//! Gathers in the one form that later stages know.

use super::build::{Build, inverse};
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::starts::{Starts, mapped_first};
use crate::diagnostic::Diagnostics;
use crate::ir::{Instruction, Module, Op, Shape};

/// Rewrites every `gather` to one whose start indices are a table (`[slices, components]`, `index_vector_dim=1`) with the
/// components in the order of the operand's first dimensions (`start_index_map={0,1,…}`), and whose result is the slices
/// (`offset_dims={1,2,…}`, nothing collapsed, no batch dimensions), by transposes and reshapes of operand, indices and result.
///
/// This is the form in which the specification of indexing analysis gives the maps of a gather.
pub struct CanonicalGather;

impl Pass for CanonicalGather {
    fn name(&self) -> &'static str {
        "canonical-gather"
    }

    fn about(&self) -> &'static str {
        "gathers slices at the rows of a table of start indices"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut canonical))
    }
}

fn canonical(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Gather {
        offset_dims,
        collapsed_slice_dims,
        start_index_map,
        operand_batching_dims,
        start_indices_batching_dims,
        index_vector_dim,
        slice_sizes,
        indices_are_sorted,
    } = &candidate.op
    else {
        return None;
    };
    let [operand, indices] = candidate.operands[..] else { return None };
    let (source, result) = (rebuild.array(operand).clone(), candidate.shape.as_array()?.clone());
    let rank = source.rank();
    let is_canonical = *index_vector_dim == 1
        && rebuild.array(indices).rank() == 2
        && collapsed_slice_dims.is_empty()
        && operand_batching_dims.is_empty()
        && start_index_map.iter().enumerate().all(|(to, &from)| to as i64 == from)
        && offset_dims.iter().enumerate().all(|(position, &dimension)| position as i64 + 1 == dimension);
    // What is dropped of a slice has one element; of slices without any, which the verifier lets pass, nothing is gathered.
    let is_dropped =
        |dimension: &i64| collapsed_slice_dims.contains(dimension) || operand_batching_dims.contains(dimension);
    let is_void = (0..rank as i64).filter(is_dropped).any(|dimension| slice_sizes[dimension as usize] != 1);
    if is_canonical || is_void {
        return None;
    }
    let starts = Starts {
        indices,
        index_vector_dim: *index_vector_dim,
        index_map: start_index_map,
        operand_batching: operand_batching_dims,
        indices_batching: start_indices_batching_dims,
        largest_batch: operand_batching_dims.iter().map(|&at| source.extents[at as usize]).max().unwrap_or(0),
    };
    let table = starts.table(rebuild);
    let order = mapped_first(&table.index_map, rank);
    let operand = rebuild.transposed(operand, &order);
    let count: i64 = table.batch.iter().product();
    let sizes: Vec<i64> = order.iter().map(|&dimension| slice_sizes[dimension as usize]).collect();
    let gather = Op::Gather {
        offset_dims: (1..=rank as i64).collect(),
        collapsed_slice_dims: Vec::new(),
        start_index_map: (0..table.index_map.len() as i64).collect(),
        operand_batching_dims: Vec::new(),
        start_indices_batching_dims: Vec::new(),
        index_vector_dim: 1,
        slice_sizes: sizes.clone(),
        // The order of rows is that of the indices, but batches count before them.
        indices_are_sorted: *indices_are_sorted && operand_batching_dims.is_empty() && *index_vector_dim != 0,
    };
    let extents: Vec<i64> = [count].into_iter().chain(sizes).collect();
    let slices = rebuild.add(Shape::array(source.element_type, extents), gather, vec![operand, table.indices]);
    // The dimensions of a slice in the operand's order, without those that the result does not have.
    let back: Vec<i64> = [0].into_iter().chain(inverse(&order).into_iter().map(|position| position + 1)).collect();
    let slices = rebuild.transposed(slices, &back);
    let is_kept =
        |dimension: &i64| !collapsed_slice_dims.contains(dimension) && !operand_batching_dims.contains(dimension);
    let kept: Vec<i64> = (0..rank as i64).filter(is_kept).map(|dimension| slice_sizes[dimension as usize]).collect();
    let batches = table.batch.len() as i64;
    let slices = rebuild.reshaped(slices, table.batch.into_iter().chain(kept).collect());
    // The batch dimensions go where no offset dimension is, each in order.
    let (mut batch, mut offset) = (0..batches, batches..);
    let place = |dimension: i64| if offset_dims.contains(&dimension) { offset.next() } else { batch.next() };
    let permutation: Vec<i64> = (0..result.rank() as i64).map_while(place).collect();
    let value = rebuild.transposed(slices, &permutation);
    Some(("a gather is one of slices at the rows of a table", Rewrite::Value(value)))
}
