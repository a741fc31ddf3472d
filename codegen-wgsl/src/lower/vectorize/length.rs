//! How long a kernel is once a driver has written its calls out.

use crate::kernel::{Block, Function, Kernel, Statement};
use crate::lower::weight::library_function;
use weft_hlo::ir::ArenaId;

/// What an operation counts that calls a function of the library.
const LIBRARY: u64 = 16;

/// Statements of an invocation with every call in place of its function, and each lane of a function of the library by itself; loops of so many rounds at most are
/// counted as written out.
pub(super) fn length(kernel: &Kernel, rounds: u64) -> u64 {
    let mut lengths = vec![0; kernel.functions.len()];
    let functions: Vec<&Function> = kernel.functions.values().collect();
    // Callees stand behind their callers.
    for (position, function) in functions.iter().enumerate().rev() {
        lengths[position] = of_block(&function.body, function, &lengths, rounds);
    }
    of_block(&kernel.entry.body, &kernel.entry, &lengths, rounds)
}

fn of_block(block: &Block, function: &Function, lengths: &[u64], rounds: u64) -> u64 {
    let of = |statement: &Statement| {
        let own = match statement {
            Statement::Let { value, op } if library_function(op, &function.values).is_some() => {
                LIBRARY * u64::from(function.values[*value].lanes)
            }
            _ => statement.callee().map_or(1, |callee| lengths[callee.index()].saturating_add(1)),
        };
        let made = match statement {
            Statement::Loop { extents, .. } => {
                extents.iter().map(|extent| u64::try_from(*extent).unwrap_or(0)).fold(1, u64::saturating_mul)
            }
            _ => 1,
        };
        let times = if made <= rounds { made } else { 1 };
        let within = |block| of_block(block, function, lengths, rounds).saturating_mul(times);
        statement.blocks().into_iter().map(within).fold(own, u64::saturating_add)
    };
    block.statements.iter().map(of).fold(0, u64::saturating_add)
}
