//! What is needed more than once, or in every round of a loop alike, computed once before.

mod names;
mod values;

use crate::kernel::{Block, Kernel, Statement};
use weft_affine::Error;
use weft_hlo::ir::ArenaId;

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

/// Moves calls of functions that loop before the loops in functions whose every round makes them alike, and with them what else is alike in each round. Plans count such calls once; so do checks of how many rounds a
/// kernel makes, then.
pub(crate) fn alike_calls_before(kernel: &mut Kernel) {
    let mut loops = vec![false; kernel.functions.len()];
    // Callers stand before callees.
    for (id, function) in kernel.functions.iter().rev() {
        loops[id.index()] = has_loop(&function.body, &loops);
    }
    for id in kernel.functions.ids() {
        let body = &kernel.functions[id].body;
        let before = loops_around_calls(body, 0, &loops);
        if before == 0 {
            continue;
        }
        let mut moved = body.clone();
        values::hoist(kernel, &mut moved, 0);
        if loops_around_calls(&moved, 0, &loops) < before {
            kernel.functions[id].body = moved;
        }
    }
}

fn has_loop(block: &Block, loops: &[bool]) -> bool {
    block.statements.iter().any(|statement| match statement {
        Statement::Loop { .. } | Statement::While { .. } => true,
        Statement::Call { function, .. } => loops[function.index()],
        other => other.blocks().into_iter().any(|block| has_loop(block, loops)),
    })
}

/// How many loops stand around calls of functions that loop, added up over the calls.
fn loops_around_calls(block: &Block, around: usize, loops: &[bool]) -> usize {
    let of = |statement: &Statement| match statement {
        Statement::Call { function, .. } => around * usize::from(loops[function.index()]),
        other => {
            let around = around + usize::from(matches!(other, Statement::Loop { .. }));
            other.blocks().into_iter().map(|block| loops_around_calls(block, around, loops)).sum()
        }
    };
    block.statements.iter().map(of).sum()
}

/// Moves what every round of a loop computes alike before the loop.
pub(super) fn alike_before(kernel: &Kernel, block: &mut Block) {
    values::hoist(kernel, block, 0);
}
