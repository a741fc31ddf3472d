//! From storage buffers to uniforms.

mod reads;

use crate::kernel::{Access, Kernel, Space, uniform_bytes};
use reads::Reads;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use weft_partition::{Schedule, Target};

/// Bytes of the largest uniform, whatever a target allows: a table that a processor's cache holds beside what else a kernel reads.
const MAX_BYTES: u64 = 64 << 10;

/// The kernel with small operands bound as uniforms, where the target is a software rasterizer; any other as it is. These load an element of
/// a storage buffer for each invocation by itself, behind a test of its bounds, and one of a uniform with those of other invocations.
///
/// A buffer becomes a uniform if
/// - the kernel only reads it, through every memory in it;
/// - each dispatch binds all of it;
/// - it has elements, and no more bytes than `min(64 KiB, max_uniform_binding_bytes)`, rounded up to 16;
/// - more elements are read of it than it has: over all reads, the points of the function, times the rounds of the loops around the read,
///   but no more than a condition around it lets through (an index that has all variables in sight takes each of its values once), times the
///   lanes; so some elements are read several times;
/// - each of its reads is at an index that differs between invocations: drivers compile a kernel again for the values of uniforms
///   at constant positions, where branches depend on them, and compute with these values;
/// - it is among the `max_uniform_buffers`, less one where there are windows, of which most elements are read.
#[must_use]
pub fn uniform(kernel: &Kernel, target: &Target) -> Kernel {
    let mut lowered = kernel.clone();
    if target.effective_schedule() != Schedule::Software {
        return lowered;
    }
    let most = MAX_BYTES.min(target.max_uniform_binding_bytes);
    let mut buffers: BTreeMap<u32, Buffer> = BTreeMap::new();
    let reads = Reads::of(kernel);
    for (id, memory) in kernel.memories.iter() {
        let Space::Buffer { binding, access, .. } = memory.space else { continue };
        let bytes = uniform_bytes(memory).unwrap_or(u64::MAX);
        let elements = memory.shape.element_count().and_then(|count| u64::try_from(count).ok()).unwrap_or(u64::MAX);
        let reads = reads.of_memory(id);
        let buffer = buffers.entry(binding).or_insert(Buffer { may_be: true, elements: 0, read: 0 });
        let may_be = access == Access::Read && memory.window.is_none();
        buffer.may_be &= may_be && bytes <= most && reads.may_be_uniform;
        buffer.elements = buffer.elements.max(elements);
        buffer.read = buffer.read.saturating_add(reads.elements);
    }
    let mut chosen: Vec<(Reverse<u64>, u32)> = buffers
        .iter()
        .filter(|(_, buffer)| buffer.may_be && buffer.elements > 0 && buffer.read > buffer.elements)
        .map(|(binding, buffer)| (Reverse(buffer.read), *binding))
        .collect();
    chosen.sort_unstable();
    let taken = u32::from(kernel.has_windows());
    chosen.truncate(usize::try_from(target.max_uniform_buffers.saturating_sub(taken)).unwrap_or(usize::MAX));
    for memory in lowered.memories.values_mut() {
        if let Space::Buffer { binding, access, .. } = &mut memory.space
            && chosen.iter().any(|(_, chosen)| chosen == binding)
        {
            *access = Access::Uniform;
        }
    }
    lowered
}

/// What is known of one binding.
struct Buffer {
    /// Whether every memory in it may be a uniform.
    may_be: bool,
    /// The elements of the largest memory in it.
    elements: u64,
    /// Elements read.
    read: u64,
}
