//! The memory model of a device, the launch of a kernel, and the tensor that is read.

use std::fmt;

use weft_affine::Var;

use crate::IndexingMap;

/// How a device reads memory: what a subgroup asks for together is fetched in aligned segments.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MemoryModel {
    /// Invocations that read together: a subgroup, also called warp or wave. At least one.
    pub subgroup_size: u32,
    /// Bytes of a segment, the unit in which memory is fetched; segments start at its multiples. At least one.
    pub segment_bytes: u32,
    /// What the address of a tensor's first element is a multiple of, in bytes. A multiple of the segment.
    pub base_alignment: u32,
    /// The most bytes that one invocation reads by one instruction.
    pub vector_bytes: u32,
}

/// Subgroups of 32, sectors of 32 bytes, buffers at multiples of 256 and vectors of 16 bytes: what many current GPUs have, and
/// what the *CUDA C++ Best Practices Guide* states for devices of compute capability 6.0 and up.
impl Default for MemoryModel {
    fn default() -> MemoryModel {
        MemoryModel { subgroup_size: 32, segment_bytes: 32, base_alignment: 256, vector_bytes: 16 }
    }
}

impl MemoryModel {
    /// What is wrong with the numbers, if anything.
    pub(crate) fn flaw(&self) -> Option<&'static str> {
        if self.subgroup_size == 0 || self.segment_bytes == 0 || self.base_alignment == 0 {
            Some("a subgroup, a segment and an alignment have a size of at least one")
        } else if !self.base_alignment.is_multiple_of(self.segment_bytes) {
            Some("tensors start at a segment: the alignment is a multiple of the segment")
        } else {
            None
        }
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "subgroups of {}, segments of {} bytes", self.subgroup_size, self.segment_bytes)
    }
}

/// Which variables of a map are threads, how many threads a block has, and which variable is the index within a vector; all
/// others are equal for all lanes of a subgroup.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// The thread indices within a block, the fastest first: `th_x`, `th_y`, `th_z`. The position
    /// `th_x + |th_x|·(th_y + |th_y|·th_z)`, by the extents of the block, divided by the subgroup size is the subgroup, and the
    /// remainder the lane.
    pub threads: Vec<Var>,
    /// The extents of the block, one for each of the thread indices; each at least one. They belong to the launch: a guard keeps
    /// threads from reading and leaves the block as it is.
    ///
    /// Without them each extent is one more than the upper bound of the variable, and a lower bound above zero leaves the threads
    /// below it idle. Bounds are part of how a map is written: [`simplify`](crate::IndexingMap::simplify) narrows them to what
    /// constraints leave, and so does [`add_constraint`](crate::IndexingMap::add_constraint) of a variable alone. So name the
    /// block where threads are guarded.
    pub block: Option<Vec<i64>>,
    /// The variable over the elements that one thread reads one after another, where it might read them as one vector. Vectors
    /// are counted from the least value that it has in the domain.
    pub vector: Option<Var>,
}

impl Launch {
    /// One thread variable, its bounds for a block, and no vector.
    pub fn of_thread(thread: Var) -> Launch {
        Launch { threads: vec![thread], block: None, vector: None }
    }

    /// Thread variables with the extents of the block, the fastest first, and no vector.
    pub fn of_block(threads: &[(Var, i64)]) -> Launch {
        let (threads, block) = threads.iter().copied().unzip();
        Launch { threads, block: Some(block), vector: None }
    }

    /// With a vector variable.
    #[must_use]
    pub fn with_vector(self, vector: Var) -> Launch {
        Launch { vector: Some(vector), ..self }
    }

    /// What is wrong with the extents of the block, if anything.
    pub(crate) fn flaw(&self) -> Option<&'static str> {
        let block = self.block.as_ref()?;
        if block.len() != self.threads.len() {
            Some("a block has one extent for each thread variable")
        } else if block.iter().any(|extent| *extent < 1) {
            Some("a block has an extent of at least one in each dimension")
        } else {
            None
        }
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

/// What is read: a tensor in row-major order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    /// Its extents.
    pub shape: Vec<i64>,
    /// Bytes of an element; at least one.
    pub element_bytes: u32,
}

impl Tensor {
    /// A tensor of the shape.
    pub fn new(shape: &[i64], element_bytes: u32) -> Tensor {
        Tensor { shape: shape.to_vec(), element_bytes }
    }
}
