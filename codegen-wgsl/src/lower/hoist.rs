//! What is needed more than once, or in every round of a loop alike, computed once before.

mod names;
mod values;

use crate::kernel::{Block, Kernel};
use weft_affine::Error;

/// The kernel in which each index expression that is needed more than once has a name, and what does not depend on a loop stands
/// before it.
///
/// A part of an index is named in the innermost block around all its uses, and before the loops that it does not depend on: behind
/// what binds its variables, but out of conditions only together with a loop. Where more than 32 bits would be needed outside a
/// condition, it stays inside. A distance from an index of workgroup memory is no part of what is named: instructions that read it have one, and hundreds of elements of a tile need one name. Of values only those move that every round computes, and elements of memories that the loop may change never do.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn hoist(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut hoisted = kernel.clone();
    for function in hoisted.functions.values_mut().chain([&mut hoisted.entry]) {
        values::hoist(kernel, &mut function.body, 0);
    }
    let mut named = hoisted.clone();
    for function in named.functions.values_mut().chain([&mut named.entry]) {
        names::name(function, &kernel.memories)?;
    }
    debug_assert!(
        named
            .without_names()?
            .is_none_or(|written| Ok(written) == hoisted.without_names().map(|it| it.unwrap_or(hoisted))),
        "names stand for what they replace:\n{named}"
    );
    Ok(named)
}

/// Moves what every round of a loop computes alike before the loop.
pub(super) fn alike_before(kernel: &Kernel, block: &mut Block) {
    values::hoist(kernel, block, 0);
}
