//! The start indices of gathers and scatters as a table: one row for each slice, one column for each dimension.

use super::build::Build;
use super::rebuild::Rebuild;
use crate::ir::{ElementType, InstrId};

/// Where the components of start indices lie, and what they are for.
pub(super) struct Starts<'a> {
    /// The start indices.
    pub(super) indices: InstrId,
    /// The dimension along which components lie; the rank if there is one component.
    pub(super) index_vector_dim: i64,
    /// For each component the operand's dimension it is for.
    pub(super) index_map: &'a [i64],
    /// Batch dimensions of the operand.
    pub(super) operand_batching: &'a [i64],
    /// Batch dimensions of the start indices, in the order of the operand's.
    pub(super) indices_batching: &'a [i64],
    /// The largest extent of a batch dimension or 0, which decides whether the indices' type can count along it.
    pub(super) largest_batch: i64,
}

/// Start indices as a table.
pub(super) struct Table {
    /// `[slices, components]`.
    pub(super) indices: InstrId,
    /// For each column the operand's dimension it is for.
    pub(super) index_map: Vec<i64>,
    /// The extents of the start indices without their components: as many slices there are.
    pub(super) batch: Vec<i64>,
}

impl Starts<'_> {
    /// The table. Batch dimensions become columns that count along them.
    pub(super) fn table(&self, rebuild: &mut Rebuild<'_>) -> Table {
        let given = rebuild.array(self.indices).clone();
        let (rank, vector) = (given.rank() as i64, self.index_vector_dim);
        let mut batch = given.extents.clone();
        let mut indices = self.indices;
        if vector < rank {
            batch.remove(vector as usize);
            let permutation: Vec<i64> = (0..rank).filter(|&dimension| dimension != vector).chain([vector]).collect();
            indices = rebuild.transposed(indices, &permutation);
        }
        let count: i64 = batch.iter().product();
        let components = self.index_map.len() as i64;
        // Every row of a table without columns is alike.
        indices = rebuild.reshaped(indices, vec![count, components]);
        let mut index_map = self.index_map.to_vec();
        if !self.operand_batching.is_empty() {
            let counting = counting_type(given.element_type, self.largest_batch);
            let mut columns = Vec::new();
            for &dimension in self.indices_batching {
                // A batch dimension of the start indices, without the one of their components.
                let position = if dimension > vector { dimension - 1 } else { dimension };
                let along = rebuild.iota(counting, batch.clone(), position);
                columns.push(rebuild.reshaped(along, vec![count, 1]));
            }
            columns.push(rebuild.converted(indices, counting));
            indices = rebuild.concatenated(columns, 1);
            index_map.splice(0..0, self.operand_batching.iter().copied());
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
pub(super) fn mapped_first(index_map: &[i64], rank: usize) -> Vec<i64> {
    let rest = (0..rank as i64).filter(|dimension| !index_map.contains(dimension));
    index_map.iter().copied().chain(rest).collect()
}
