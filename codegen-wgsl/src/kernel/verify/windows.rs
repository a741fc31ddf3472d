//! Whether each dispatch uses of memories what it binds of them.

use super::Findings;
use crate::kernel::{Kernel, Memory, Reach, Space, Window, is_multiple};
use weft_affine::Var;

/// What the word is a multiple of at which a window begins: those of a vector.
const LANES: i64 = 4;

/// Finds windows that make no sense.
pub(super) fn check_memory(kernel: &Kernel, memory: &Memory, findings: &mut Findings) {
    let place = format!("%{}", memory.name);
    let same = kernel.in_one_buffer(memory).all(|other| other.window == memory.window);
    if !same {
        findings.add(&place, "it shares a buffer with a memory of which another part is bound");
    }
    let Some(Window { first, size }) = &memory.window else { return };
    match memory.space {
        Space::Buffer { offset, .. } => {
            if offset != 0 || memory.is_uniform() {
                findings.add(&place, "it has a window, and lies in a uniform or not at the beginning of its buffer");
            }
        }
        Space::Workgroup | Space::Thread => findings.add(&place, "it has a window, and lies in no buffer"),
    }
    if *size < 1 {
        findings.add(&place, "its window has no words");
    }
    if first.variables().iter().any(|variable| *variable != Var::Dim(0)) {
        findings.add(&place, format!("the beginning {first} of its window uses another variable than d0"));
    }
    let known = crate::kernel::Known::new(&[kernel.windows]);
    if !is_multiple(first, LANES, &known) {
        findings.add(&place, format!("the beginning {first} of its window may be no multiple of {LANES}"));
    }
}

/// Finds memories of which a dispatch may use more than it binds.
pub(super) fn check(kernel: &Kernel, unproved: &mut Findings) {
    if !kernel.has_windows() {
        return;
    }
    let windowed = |id| kernel.memories[id].window.is_some();
    let reach = Reach::of(kernel, &windowed);
    for (id, memory) in kernel.memories.iter() {
        let Some(window) = &memory.window else { continue };
        let words = memory.words().unwrap_or(i64::MAX);
        let is_within = |number: i64| {
            let used = reach.as_ref()?.within(id, number);
            let bound = window.words(number, words).ok()?;
            Some(used.lo > used.hi || (used.lo >= bound.start && used.hi < bound.end))
        };
        if let Some(number) = (0..kernel.windows).find(|number| is_within(*number) != Some(true)) {
            let message = format!("that window {number} has all that is used there is not known");
            unproved.add(&format!("%{}", memory.name), message);
        }
    }
}
