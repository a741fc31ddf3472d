//! Loops that stay loops.

use crate::kernel::{Block, Kernel, Statement};
use weft_partition::Target;

/// Rounds that all invocations of a kernel make together, where what they cost is less than what it costs to compile them: a millisecond.
const MOST_ROUNDS: u64 = 1 << 18;

/// The kernel with the extents of its loops [hidden from the driver](Kernel::rolled), where lanes of the device
/// [access memory one after the other](weft_partition::Hardware::serial_access) and all invocations together make at most 262,144 rounds; any other
/// as it is. What is computed is the same.
///
/// Drivers write loops of few rounds out. Where an access is a loop over the lanes in the driver's code, each one that is written out takes a millisecond to compile, which llvmpipe
/// does at the first launch: a training step of a small transformer, 74 kernels, takes 20 s with its loops written out, and 13 s without. How long it runs does not tell
/// the two apart.
///
/// An extent that is hidden is each invocation's own, for all that is known: so kernels stay as they are in which invocations wait for each other, or ask
/// for values of others.
#[must_use]
pub fn roll(kernel: &Kernel, target: &Target) -> Kernel {
    let mut lowered = kernel.clone();
    let invocations = kernel.entry.extents.iter().map(|extent| u64::try_from(*extent).unwrap_or(u64::MAX));
    let rounds = || invocations.fold(kernel.rounds(), u64::saturating_mul);
    lowered.rolled = target.hardware.serial_access
        && kernel.bodies().any(|function| loops(&function.body))
        && !kernel.is_together()
        && rounds() <= MOST_ROUNDS;
    lowered
}

/// Whether a block has a loop.
fn loops(block: &Block) -> bool {
    let is_loop = |statement: &Statement| matches!(statement, Statement::Loop { .. });
    block.statements.iter().any(|statement| is_loop(statement) || statement.blocks().into_iter().any(loops))
}
