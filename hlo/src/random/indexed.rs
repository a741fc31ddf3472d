//! Random dynamic slices, gathers and scatters, in any form and in the canonical one.

use super::body::Body;
use super::region::{combiner, results, types};
use crate::ir::{ArrayShape, ElementType, InstrId, Op};

/// The start indices: one scalar for each dimension, or one list of them.
fn starts(body: &mut Body<'_>, array: &ArrayShape) -> Vec<InstrId> {
    let index = body.index_type();
    if body.world.rng.chance(25) {
        return vec![body.operand(index, &[array.rank() as i64])];
    }
    array.extents.iter().map(|_| body.operand(index, &[])).collect()
}

/// Extents of a box within the array.
fn within(body: &mut Body<'_>, array: &ArrayShape) -> Vec<i64> {
    let rng = &mut body.world.rng;
    let size = |&extent: &i64| match rng.weighted(&[25, 70, 5]) {
        0 => extent,
        1 => rng.between(extent.min(1), extent),
        _ => 0,
    };
    array.extents.iter().map(size).collect()
}

fn operand(body: &mut Body<'_>) -> Option<(InstrId, ArrayShape)> {
    let least = usize::from(body.world.rng.chance(95));
    let operand = body.array(|_| true, least)?;
    let array = body.array_shape(operand);
    Some((operand, array))
}

pub(super) fn dynamic_slice(body: &mut Body<'_>) -> Option<InstrId> {
    let (operand, array) = operand(body)?;
    let starts = starts(body, &array);
    let dynamic_slice_sizes = within(body, &array);
    let operands = [operand].into_iter().chain(starts).collect();
    body.emit(Op::DynamicSlice { dynamic_slice_sizes }, operands, array.element_type)
}

pub(super) fn dynamic_update_slice(body: &mut Body<'_>) -> Option<InstrId> {
    let (operand, array) = operand(body)?;
    let starts = starts(body, &array);
    let sizes = within(body, &array);
    let update = body.operand(array.element_type, &sizes);
    let operands = [operand, update].into_iter().chain(starts).collect();
    body.emit(Op::DynamicUpdateSlice, operands, array.element_type)
}

/// How slices, or windows, of an operand lie.
struct IndexedSlices {
    /// Dimensions of one element that results, or updates, do not have.
    left_out: Vec<i64>,
    /// Batch dimensions of the operand, and those of the indices that go with them.
    operand_batch: Vec<i64>,
    indices_batch: Vec<i64>,
    /// The operand's dimension for each component of an index.
    index_map: Vec<i64>,
    index_vector_dim: i64,
    indices: InstrId,
    /// Extents of a slice, one per dimension of the operand.
    sizes: Vec<i64>,
    /// Extents of the indices without the dimension of their components.
    batch: Vec<i64>,
    /// Whether there is at most one index, which is sorted and unique.
    is_single: bool,
}

impl IndexedSlices {
    fn new(body: &mut Body<'_>, array: &ArrayShape) -> Option<Self> {
        if body.world.rng.chance(30) {
            IndexedSlices::canonical(body, array)
        } else {
            IndexedSlices::general(body, array)
        }
    }

    /// One list of indices, the first dimensions of the operand in order, whole slices (the form XLA's gather simplifier
    /// makes).
    fn canonical(body: &mut Body<'_>, array: &ArrayShape) -> Option<Self> {
        let components = body.world.rng.below(array.rank() + 1);
        let count = body.world.rng.between(0, 4);
        let index = body.index_type();
        let indices = body.small_operand(index, &[count, components as i64])?;
        Some(IndexedSlices {
            left_out: Vec::new(),
            operand_batch: Vec::new(),
            indices_batch: Vec::new(),
            index_map: (0..components as i64).collect(),
            index_vector_dim: 1,
            indices,
            sizes: sizes(body, array, |_| false),
            batch: vec![count],
            is_single: count <= 1,
        })
    }

    fn general(body: &mut Body<'_>, array: &ArrayShape) -> Option<Self> {
        let rng = &mut body.world.rng;
        let batches = rng.weighted(&[70, 22, 8]).min(array.rank());
        let mut operand_batch = rng.dimensions(array.rank(), batches);
        operand_batch.sort_unstable();
        let free: Vec<usize> = (0..array.rank()).filter(|dimension| !operand_batch.contains(dimension)).collect();
        let left_out: Vec<usize> = free.iter().copied().filter(|_| rng.chance(40)).collect();
        let mut index_map = free;
        rng.shuffle(&mut index_map);
        let components = rng.below(index_map.len() + 1).max(usize::from(rng.chance(80))).min(index_map.len());
        index_map.truncate(components);

        // The batch dimensions of the indices: some of their own, and one for each of the operand's, in any order.
        let own = rng.weighted(&[25, 45, 30]);
        let mut roles: Vec<Option<usize>> = vec![None; own];
        roles.extend(operand_batch.iter().copied().map(Some));
        rng.shuffle(&mut roles);
        let batch: Vec<i64> = roles
            .iter()
            .map(|role| match role {
                Some(dimension) => array.extents[*dimension],
                None => rng.extent(3),
            })
            .collect();
        let is_implicit = components == 1 && rng.chance(35);
        let at = if is_implicit { batch.len() } else { rng.below(batch.len() + 1) };
        let mut extents = batch.clone();
        if !is_implicit {
            extents.insert(at, components as i64);
        }
        // Where the batch dimension of each role lies among all dimensions of the indices.
        let position = |dimension: usize| {
            let within = roles.iter().position(|role| *role == Some(dimension)).unwrap_or(0);
            (within + usize::from(!is_implicit && within >= at)) as i64
        };
        let indices_batch = operand_batch.iter().map(|&dimension| position(dimension)).collect();
        let index = body.index_type();
        let indices = body.small_operand(index, &extents)?;
        let sizes = sizes(body, array, |dimension| left_out.contains(&dimension) || operand_batch.contains(&dimension));
        let numbers = |dimensions: Vec<usize>| dimensions.into_iter().map(|dimension| dimension as i64).collect();
        Some(IndexedSlices {
            is_single: batch.iter().product::<i64>() <= 1,
            left_out: numbers(left_out),
            operand_batch: numbers(operand_batch),
            indices_batch,
            index_map: numbers(index_map),
            index_vector_dim: at as i64,
            indices,
            sizes,
            batch,
        })
    }

    /// Where the dimensions of slices stand among those of the result, or those of windows among those of the updates; and
    /// all the extents there.
    fn offsets(&self, body: &mut Body<'_>) -> (Vec<i64>, Vec<i64>) {
        let is_kept = |dimension: &i64| !self.left_out.contains(dimension) && !self.operand_batch.contains(dimension);
        let kept = (0i64..).zip(&self.sizes).filter(|(dimension, _)| is_kept(dimension)).map(|(_, &size)| size);
        let kept: Vec<i64> = kept.collect();
        let rank = self.batch.len() + kept.len();
        // The canonical form has the index first.
        let is_canonical = self.left_out.is_empty() && self.index_vector_dim == 1 && self.batch.len() == 1;
        let mut offsets: Vec<usize> = match is_canonical {
            true => (1..rank).collect(),
            false => body.world.rng.dimensions(rank, kept.len()),
        };
        offsets.sort_unstable();
        let (mut batch, mut slice) = (self.batch.iter(), kept.iter());
        let next = |dimension: usize| if offsets.contains(&dimension) { slice.next() } else { batch.next() };
        let extents = (0..rank).filter_map(next).copied().collect();
        (offsets.into_iter().map(|dimension| dimension as i64).collect(), extents)
    }
}

/// Extents of a slice: of one element along the dimensions that are dropped.
fn sizes(body: &mut Body<'_>, array: &ArrayShape, is_dropped: impl Fn(usize) -> bool) -> Vec<i64> {
    let rng = &mut body.world.rng;
    let size = |(dimension, &extent): (usize, &i64)| match rng.weighted(&[60, 36, 4]) {
        _ if is_dropped(dimension) => extent.min(1),
        0 => rng.between(extent.min(1), extent),
        1 => extent.min(1),
        _ => 0,
    };
    array.extents.iter().enumerate().map(size).collect()
}

pub(super) fn gather(body: &mut Body<'_>) -> Option<InstrId> {
    let least = usize::from(body.world.rng.chance(90));
    let operand = body.array(|_| true, least)?;
    let array = body.array_shape(operand);
    let slices = IndexedSlices::new(body, &array)?;
    let (offset_dims, _) = slices.offsets(body);
    let indices_are_sorted = slices.is_single && body.world.rng.chance(50);
    let op = Op::Gather {
        offset_dims,
        collapsed_slice_dims: slices.left_out,
        start_index_map: slices.index_map,
        operand_batching_dims: slices.operand_batch,
        start_indices_batching_dims: slices.indices_batch,
        index_vector_dim: slices.index_vector_dim,
        slice_sizes: slices.sizes,
        indices_are_sorted,
    };
    body.emit(op, vec![operand, slices.indices], array.element_type)
}

pub(super) fn scatter(body: &mut Body<'_>) -> Option<InstrId> {
    let least = usize::from(body.world.rng.chance(90));
    let first = body.array(|_| true, least)?;
    let array = body.array_shape(first);
    let types: Vec<ElementType> = types(body, array.element_type);
    let slices = IndexedSlices::new(body, &array)?;
    let (update_window_dims, updates) = slices.offsets(body);
    if updates.iter().product::<i64>() > body.elements() || updates.len() > super::shape::MAX_RANK {
        return None;
    }
    let mut operands = vec![first];
    for &element_type in &types[1..] {
        operands.push(body.operand(element_type, &array.extents));
    }
    operands.push(slices.indices);
    for &element_type in &types {
        operands.push(body.operand(element_type, &updates));
    }
    let to_apply = combiner(body, &types);
    let op = Op::Scatter {
        update_window_dims,
        inserted_window_dims: slices.left_out,
        scatter_dims_to_operand_dims: slices.index_map,
        input_batching_dims: slices.operand_batch,
        scatter_indices_batching_dims: slices.indices_batch,
        index_vector_dim: slices.index_vector_dim,
        indices_are_sorted: slices.is_single && body.world.rng.chance(50),
        unique_indices: slices.is_single && body.world.rng.chance(50),
        to_apply,
    };
    body.emit_as(op, operands, results(&types))
}
