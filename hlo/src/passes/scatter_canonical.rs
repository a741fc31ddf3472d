//! Scatters in the one form that later stages know.

use super::build::{Build, inverse};
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::starts::{Starts, mapped_first};
use crate::diagnostic::Diagnostics;
use crate::ir::{InstrId, Instruction, Module, Op, Shape};

/// Rewrites every `scatter` to one whose indices are a table (`[windows, components]`, `index_vector_dim=1`) with the components
/// in the order of the inputs' first dimensions, and whose updates are the windows (`update_window_dims={1,2,…}`, nothing
/// inserted, no batch dimensions), by transposes and reshapes of inputs, indices, updates and results.
///
/// This is the form in which the specification of indexing analysis gives the maps of a scatter.
pub struct CanonicalScatter;

impl Pass for CanonicalScatter {
    fn name(&self) -> &'static str {
        "canonical-scatter"
    }

    fn about(&self) -> &'static str {
        "scatters windows at the rows of a table of indices"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut canonical))
    }
}

fn canonical(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Scatter {
        update_window_dims,
        inserted_window_dims,
        scatter_dims_to_operand_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        index_vector_dim,
        indices_are_sorted,
        unique_indices,
        to_apply,
    } = &candidate.op
    else {
        return None;
    };
    let count = candidate.operands.len() / 2;
    let (inputs, indices) = (&candidate.operands[..count], candidate.operands[count]);
    let updates = &candidate.operands[count + 1..];
    let source = rebuild.array(inputs[0]).clone();
    let rank = source.rank();
    let is_canonical = *index_vector_dim == 1
        && rebuild.array(indices).rank() == 2
        && inserted_window_dims.is_empty()
        && input_batching_dims.is_empty()
        && scatter_dims_to_operand_dims.iter().enumerate().all(|(to, &from)| to as i64 == from)
        && update_window_dims.iter().enumerate().all(|(position, &dimension)| position as i64 + 1 == dimension);
    if is_canonical {
        return None;
    }
    if source.extents.contains(&0) {
        const NOTHING: &str = "a scatter into nothing is nothing";
        return Some(match candidate.shape.as_array() {
            Some(_) => (NOTHING, Rewrite::Value(inputs[0])),
            None => (NOTHING, Rewrite::Op(Op::Tuple, inputs.to_vec())),
        });
    }
    let starts = Starts {
        indices,
        index_vector_dim: *index_vector_dim,
        index_map: scatter_dims_to_operand_dims,
        operand_batching: input_batching_dims,
        indices_batching: scatter_indices_batching_dims,
        largest_batch: input_batching_dims.iter().map(|&at| source.extents[at as usize]).max().unwrap_or(0),
    };
    let table = starts.table(rebuild);
    let order = mapped_first(&table.index_map, rank);
    let mut operands: Vec<InstrId> = inputs.iter().map(|&input| rebuild.transposed(input, &order)).collect();
    operands.push(table.indices);
    let windows: i64 = table.batch.iter().product();
    for &update in updates {
        let given = rebuild.array(update).clone();
        // The dimensions that count windows, then those within a window.
        let counting = (0..given.rank() as i64).filter(|dimension| !update_window_dims.contains(dimension));
        let permutation: Vec<i64> = counting.chain(update_window_dims.iter().copied()).collect();
        let moved = rebuild.transposed(update, &permutation);
        // A window has an extent for each dimension of the inputs, 1 where the updates have none.
        let mut within = update_window_dims.iter().map(|&dimension| given.extents[dimension as usize]);
        let is_missing =
            |dimension: i64| inserted_window_dims.contains(&dimension) || input_batching_dims.contains(&dimension);
        let mut extents = vec![windows];
        for dimension in 0..rank as i64 {
            extents.push(if is_missing(dimension) { 1 } else { within.next()? });
        }
        let whole = rebuild.reshaped(moved, extents);
        let to_order: Vec<i64> = [0].into_iter().chain(order.iter().map(|dimension| dimension + 1)).collect();
        operands.push(rebuild.transposed(whole, &to_order));
    }
    let scatter = Op::Scatter {
        update_window_dims: (1..=rank as i64).collect(),
        inserted_window_dims: Vec::new(),
        scatter_dims_to_operand_dims: (0..table.index_map.len() as i64).collect(),
        input_batching_dims: Vec::new(),
        scatter_indices_batching_dims: Vec::new(),
        index_vector_dim: 1,
        indices_are_sorted: *indices_are_sorted && input_batching_dims.is_empty() && *index_vector_dim != 0,
        unique_indices: *unique_indices,
        to_apply: *to_apply,
    };
    let shapes: Vec<Shape> = operands[..count].iter().map(|&input| rebuild.get(input).shape.without_layout()).collect();
    let back = inverse(&order);
    const RULE: &str = "a scatter is one of windows at the rows of a table";
    if candidate.shape.as_array().is_some() {
        let scattered = rebuild.add(shapes[0].clone(), scatter, operands);
        return Some((RULE, Rewrite::Value(rebuild.transposed(scattered, &back))));
    }
    let scattered = rebuild.add(Shape::Tuple(shapes), scatter, operands);
    let mut results = Vec::with_capacity(count);
    for index in 0..count {
        let element = rebuild.element(scattered, index);
        results.push(rebuild.transposed(element, &back));
    }
    Some((RULE, Rewrite::Op(Op::Tuple, results)))
}
