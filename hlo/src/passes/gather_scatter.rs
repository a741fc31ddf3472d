//! Canonicalization of gathers and scatters.

use super::build::{Build, inverse};
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{ElementType, GatherDimensions, InstrId, Instruction, Module, Op, Shape};

/// The start indices of a gather or a scatter, and what they are for.
struct Starts<'a> {
    indices: InstrId,
    dimensions: GatherDimensions<'a>,
    /// The largest extent of a batch dimension or 0, which decides whether the indices' type can count along it.
    largest_batch: i64,
}

/// Start indices as a table.
struct Table {
    /// `[slices, components]`.
    indices: InstrId,
    /// For each column the operand's dimension it is for.
    index_map: Vec<i64>,
    /// The extents of the start indices without their components: as many slices there are.
    batch: Vec<i64>,
}

impl<'a> Starts<'a> {
    /// The start indices of an operation on an operand of these extents.
    fn new(indices: InstrId, dimensions: GatherDimensions<'a>, operand: &[i64]) -> Self {
        let extents = dimensions.operand_batch.iter().map(|&dimension| operand[dimension as usize]);
        Starts { indices, dimensions, largest_batch: extents.max().unwrap_or(0) }
    }

    /// The table. Batch dimensions become columns that count along them.
    fn table(&self, rebuild: &mut Rebuild<'_>) -> Table {
        let given = rebuild.array(self.indices).clone();
        let (rank, vector) = (given.rank() as i64, self.dimensions.index_vector);
        let mut batch = given.extents.clone();
        let mut indices = self.indices;
        if vector < rank {
            batch.remove(vector as usize);
            let permutation: Vec<i64> = (0..rank).filter(|&dimension| dimension != vector).chain([vector]).collect();
            indices = rebuild.transposed(indices, &permutation);
        }
        let count: i64 = batch.iter().product();
        let components = self.dimensions.index_map.len() as i64;
        // Every row of a table without columns is alike.
        indices = rebuild.reshaped(indices, vec![count, components]);
        let mut index_map = self.dimensions.index_map.to_vec();
        if !self.dimensions.operand_batch.is_empty() {
            let counting = counting_type(given.element_type, self.largest_batch);
            let mut columns = Vec::new();
            for &dimension in self.dimensions.indices_batch {
                // A batch dimension of the start indices, without the one of their components.
                let position = if dimension > vector { dimension - 1 } else { dimension };
                let along = rebuild.iota(counting, batch.clone(), position);
                columns.push(rebuild.reshaped(along, vec![count, 1]));
            }
            columns.push(rebuild.converted(indices, counting));
            indices = rebuild.concatenated(columns, 1);
            index_map.splice(0..0, self.dimensions.operand_batch.iter().copied());
        }
        Table { indices, index_map, batch }
    }
}

/// The type of the indices, or one that can hold the indices of the batch as well.
fn counting_type(element_type: ElementType, extent: i64) -> ElementType {
    let bits = element_type.bits() - u32::from(element_type.is_signed());
    match bits >= 63 || extent <= 1 << bits {
        true => element_type,
        false => ElementType::S64,
    }
}

/// The dimensions of a rank, those of the index map first.
fn mapped_first(index_map: &[i64], rank: usize) -> Vec<i64> {
    let rest = (0..rank as i64).filter(|dimension| !index_map.contains(dimension));
    index_map.iter().copied().chain(rest).collect()
}

/// Whether the form is canonical: indices of this rank are a table, in the order of the dimensions of the operand, as are windows.
fn is_canonical(dimensions: &GatherDimensions<'_>, indices_rank: usize) -> bool {
    dimensions.index_vector == 1
        && indices_rank == 2
        && dimensions.dropped.is_empty()
        && dimensions.operand_batch.is_empty()
        && dimensions.index_map.iter().enumerate().all(|(to, &from)| to as i64 == from)
        && dimensions.window.iter().enumerate().all(|(position, &dimension)| position as i64 + 1 == dimension)
}

/// Whether the rows of the table are in the order of the indices; columns that count batches come before theirs.
fn keeps_order(dimensions: &GatherDimensions<'_>) -> bool {
    dimensions.operand_batch.is_empty() && dimensions.index_vector != 0
}

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
        Ok(rewrite_module(module, &mut canonical_gather))
    }
}

fn canonical_gather(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Gather { slice_sizes, indices_are_sorted, .. } = &candidate.op else { return None };
    let dimensions = candidate.op.gather_dimensions()?;
    let [operand, indices] = candidate.operands[..] else { return None };
    let (source, result) = (rebuild.array(operand).clone(), candidate.shape.as_array()?.clone());
    let rank = source.rank();
    let is_canonical = is_canonical(&dimensions, rebuild.array(indices).rank());
    // What is dropped of a slice has one element; of slices without any, which the verifier lets pass, nothing is gathered.
    let is_void = (0..rank).any(|dimension| dimensions.is_dropped(dimension) && slice_sizes[dimension] != 1);
    if is_canonical || is_void {
        return None;
    }
    let table = Starts::new(indices, dimensions, &source.extents).table(rebuild);
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
        indices_are_sorted: *indices_are_sorted && keeps_order(&dimensions),
    };
    let extents: Vec<i64> = [count].into_iter().chain(sizes).collect();
    let slices = rebuild.add(Shape::array(source.element_type, extents), gather, vec![operand, table.indices]);
    // The dimensions of a slice in the operand's order, without those that the result does not have.
    let back: Vec<i64> = [0].into_iter().chain(inverse(&order).into_iter().map(|position| position + 1)).collect();
    let slices = rebuild.transposed(slices, &back);
    let kept = (0..rank).filter(|&dimension| !dimensions.is_dropped(dimension)).map(|dimension| slice_sizes[dimension]);
    let batches = table.batch.len() as i64;
    let slices = rebuild.reshaped(slices, table.batch.into_iter().chain(kept).collect());
    // The batch dimensions go where no offset dimension is, each in order.
    let (mut batch, mut offset) = (0..batches, batches..);
    let place = |dimension: i64| if dimensions.window.contains(&dimension) { offset.next() } else { batch.next() };
    let permutation: Vec<i64> = (0..result.rank() as i64).map_while(place).collect();
    let value = rebuild.transposed(slices, &permutation);
    Some(("a gather is one of slices at the rows of a table", Rewrite::Value(value)))
}

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
        Ok(rewrite_module(module, &mut canonical_scatter))
    }
}

fn canonical_scatter(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Scatter { indices_are_sorted, unique_indices, to_apply, .. } = &candidate.op else { return None };
    let dimensions = candidate.op.gather_dimensions()?;
    let count = candidate.operands.len() / 2;
    let (inputs, indices) = (&candidate.operands[..count], candidate.operands[count]);
    let updates = &candidate.operands[count + 1..];
    let source = rebuild.array(inputs[0]).clone();
    let rank = source.rank();
    if is_canonical(&dimensions, rebuild.array(indices).rank()) {
        return None;
    }
    if source.extents.contains(&0) {
        const NOTHING: &str = "a scatter into nothing is nothing";
        return Some(match candidate.shape.as_array() {
            Some(_) => (NOTHING, Rewrite::Value(inputs[0])),
            None => (NOTHING, Rewrite::Op(Op::Tuple, inputs.to_vec())),
        });
    }
    let table = Starts::new(indices, dimensions, &source.extents).table(rebuild);
    let order = mapped_first(&table.index_map, rank);
    let mut operands: Vec<InstrId> = inputs.iter().map(|&input| rebuild.transposed(input, &order)).collect();
    operands.push(table.indices);
    let windows: i64 = table.batch.iter().product();
    for &update in updates {
        let given = rebuild.array(update).clone();
        // The dimensions that count windows, then those within a window.
        let counting = dimensions.window_batch(given.rank()).map(|dimension| dimension as i64);
        let permutation: Vec<i64> = counting.chain(dimensions.window.iter().copied()).collect();
        let moved = rebuild.transposed(update, &permutation);
        // A window has an extent for each dimension of the inputs, 1 where the updates have none.
        let extent = |own: Option<usize>| own.map_or(1, |own| given.extents[own]);
        let extents = [windows].into_iter().chain(dimensions.along(rank, given.rank()).map(extent)).collect();
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
        indices_are_sorted: *indices_are_sorted && keeps_order(&dimensions),
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
