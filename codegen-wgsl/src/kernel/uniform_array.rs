//! How the elements of a memory lie in a uniform.

use super::{Memory, Space};

/// Elements side by side in one element of a uniform's array, whose elements begin 16 bytes apart in WGSL.
pub(crate) const UNIFORM_LANES: u32 = 4;

/// Bytes of one element of a uniform's array.
pub(crate) const UNIFORM_STRIDE: u64 = 16;

/// Bytes of the uniform that holds a memory, whole vectors of [`UNIFORM_LANES`] words; `None` if they cannot be counted.
pub(crate) fn uniform_bytes(memory: &Memory) -> Option<u64> {
    let offset = match memory.space {
        Space::Buffer { offset, .. } => offset,
        Space::Workgroup | Space::Thread | Space::Matrix { .. } => 0,
    };
    let words = u64::try_from(memory.words()?).ok()?;
    words.checked_mul(4)?.checked_add(offset)?.checked_next_multiple_of(UNIFORM_STRIDE)
}
