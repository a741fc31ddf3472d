//! The memory model of a device, the launch of a kernel, and the tensor that is read.

use std::fmt;

use weft_affine::Var;

use crate::{Error, IndexingMap};

/// The memory model of a device: the requests of a subgroup are served in aligned segments.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MemoryModel {
    pub(super) subgroup_size: u32,
    pub(super) segment_bytes: u32,
    pub(super) base_alignment: u32,
    pub(super) vector_bytes: u32,
}

/// Subgroups of 32, sectors of 32 bytes, buffers at multiples of 256 and vectors of 16 bytes: what many current GPUs have, and
/// what the *CUDA C++ Best Practices Guide* states for devices of compute capability 6.0 and up.
impl Default for MemoryModel {
    fn default() -> MemoryModel {
        MemoryModel { subgroup_size: 32, segment_bytes: 32, base_alignment: 256, vector_bytes: 16 }
    }
}

impl MemoryModel {
    /// The number of invocations that read together, then, in bytes, the size of a segment, the alignment of tensors and the size
    /// of the largest vector; each has an accessor that says more.
    ///
    /// # Errors
    /// When a number is zero, and when the alignment is no multiple of the segment.
    pub fn try_new(
        subgroup_size: u32,
        segment_bytes: u32,
        base_alignment: u32,
        vector_bytes: u32,
    ) -> Result<MemoryModel, Error> {
        if [subgroup_size, segment_bytes, base_alignment, vector_bytes].contains(&0) {
            let what = "a subgroup, a segment, an alignment and a vector have a size of at least one";
            return Err(Error::Setting { what });
        }
        if !base_alignment.is_multiple_of(segment_bytes) {
            let what = "tensors start at a segment: the alignment is a multiple of the segment";
            return Err(Error::Setting { what });
        }
        Ok(MemoryModel { subgroup_size, segment_bytes, base_alignment, vector_bytes })
    }

    /// Invocations that read together: a subgroup, also called warp or wave.
    pub fn subgroup_size(&self) -> u32 {
        self.subgroup_size
    }

    /// Bytes of a segment, the unit in which memory is fetched; segments start at its multiples.
    pub fn segment_bytes(&self) -> u32 {
        self.segment_bytes
    }

    /// The alignment of a tensor's first element, in bytes: a multiple of the segment.
    pub fn base_alignment(&self) -> u32 {
        self.base_alignment
    }

    /// The most bytes that one invocation reads by one instruction.
    pub fn vector_bytes(&self) -> u32 {
        self.vector_bytes
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "subgroups of {}, segments of {} bytes", self.subgroup_size, self.segment_bytes)
    }
}

/// The launch of a kernel: the variables of a map that are threads, the number of threads of a block, and the variable
/// that is the index within a vector; all others are equal for all lanes of a subgroup.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    pub(super) threads: Vec<Var>,
    /// One extent for each thread variable, each at least one.
    pub(super) block: Option<Vec<i64>>,
    pub(super) vector: Option<Var>,
}

impl Launch {
    /// The thread indices within a block, the fastest first; the extents of the block, or none for those of the bounds; and the
    /// index within a vector. Each has an accessor that says more.
    ///
    /// # Errors
    /// When a variable is named twice, and when the block has not one extent of at least one for each thread variable.
    pub fn try_new(threads: Vec<Var>, block: Option<Vec<i64>>, vector: Option<Var>) -> Result<Launch, Error> {
        let error = |what| Err(Error::Setting { what });
        let named: Vec<Var> = threads.iter().copied().chain(vector).collect();
        if (1..named.len()).any(|i| named[..i].contains(&named[i])) {
            return error("each variable of a launch is named once");
        }
        match &block {
            Some(block) if block.len() != threads.len() => error("a block has one extent for each thread variable"),
            Some(block) if block.iter().any(|extent| *extent < 1) => {
                error("a block has an extent of at least one in each dimension")
            }
            _ => Ok(Launch { threads, block, vector }),
        }
    }

    /// One thread variable, its bounds for a block, and no vector.
    pub fn of_thread(thread: Var) -> Launch {
        Launch { threads: vec![thread], block: None, vector: None }
    }

    /// Thread variables with the extents of the block, the fastest first, and no vector.
    ///
    /// # Errors
    /// As [`Launch::try_new`].
    pub fn of_block(threads: &[(Var, i64)]) -> Result<Launch, Error> {
        let (threads, block) = threads.iter().copied().unzip();
        Launch::try_new(threads, Some(block), None)
    }

    /// With a block of these extents.
    ///
    /// # Errors
    /// As [`Launch::try_new`].
    pub fn with_block(self, extents: &[i64]) -> Result<Launch, Error> {
        Launch::try_new(self.threads, Some(extents.to_vec()), self.vector)
    }

    /// With a vector variable.
    ///
    /// # Errors
    /// When it is a thread variable.
    pub fn with_vector(self, vector: Var) -> Result<Launch, Error> {
        Launch::try_new(self.threads, self.block, Some(vector))
    }

    /// The thread indices within a block, the fastest first: `th_x`, `th_y`, `th_z`. The position
    /// `th_x + |th_x|·(th_y + |th_y|·th_z)`, by the extents of the block, divided by the subgroup size is the subgroup, and the
    /// remainder the lane.
    pub fn threads(&self) -> &[Var] {
        &self.threads
    }

    /// The extents of the block, one for each of the thread indices. They belong to the launch: a guard keeps threads from reading
    /// and leaves the block as it is.
    ///
    /// Without them each extent is one more than the upper bound of the variable, and a lower bound above zero leaves the threads
    /// below it idle. Bounds are part of how a map is written: [`simplify`](crate::IndexingMap::simplify) narrows them to what
    /// constraints leave, and so does [`add_constraint`](crate::IndexingMap::add_constraint) of a variable alone. So name the
    /// block where threads are guarded.
    pub fn block(&self) -> Option<&[i64]> {
        self.block.as_deref()
    }

    /// The variable over the elements that one thread reads one after another, where it might read them as one vector. Vectors
    /// are counted from the least value that it has in the domain.
    pub fn vector(&self) -> Option<Var> {
        self.vector
    }

    /// The same with the extents of the block that it stands for on a map; those of variables without an upper bound saturate.
    pub(crate) fn on(&self, map: &IndexingMap) -> Launch {
        if map.is_undefined() {
            return self.clone();
        }
        let extent = |v: &Var| map.variable(*v).map_or(1, |own| own.bounds.hi.saturating_add(1).max(1));
        let block = self.block.clone().unwrap_or_else(|| self.threads.iter().map(extent).collect());
        Launch { block: Some(block), ..self.clone() }
    }
}

/// The tensor that is read, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    pub(super) shape: Vec<i64>,
    pub(super) element_bytes: u32,
}

impl Tensor {
    /// A tensor of the shape, whose elements have so many bytes.
    ///
    /// # Errors
    /// When an extent is negative, and when an element has no bytes.
    pub fn try_new(shape: &[i64], element_bytes: u32) -> Result<Tensor, Error> {
        if element_bytes == 0 {
            return Err(Error::Setting { what: "an element has a size of at least one byte" });
        }
        if shape.iter().any(|extent| *extent < 0) {
            return Err(Error::Setting { what: "an extent of a tensor is not negative" });
        }
        Ok(Tensor { shape: shape.to_vec(), element_bytes })
    }

    /// # Errors
    /// When the map has not one result for each extent; an undefined map may have any.
    pub(super) fn expect_indexed_by(&self, map: &IndexingMap) -> Result<(), Error> {
        let (expected, found) = (self.shape.len(), map.results.len());
        if map.is_undefined() || expected == found {
            return Ok(());
        }
        Err(Error::Arity { what: "results of the map", expected, found })
    }

    /// Its extents, none of them negative.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> u32 {
        self.element_bytes
    }
}

/// A tensor that a fusion reads, with the maps from the output of the fusion to its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FusedOperand {
    pub(super) tensor: Tensor,
    pub(super) uses: Vec<IndexingMap>,
}

impl FusedOperand {
    /// The operand `tensor` with its uses: for each a map from the index of the output to that of the tensor.
    ///
    /// # Errors
    /// When a map that is not undefined has not one result for each extent of the tensor.
    pub fn try_new(tensor: Tensor, uses: Vec<IndexingMap>) -> Result<FusedOperand, Error> {
        uses.iter().try_for_each(|map| tensor.expect_indexed_by(map))?;
        Ok(FusedOperand { tensor, uses })
    }

    /// The tensor that is read.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// From the index of the output to the index of the tensor, one map for each way in which it is read.
    pub fn uses(&self) -> &[IndexingMap] {
        &self.uses
    }
}
