//! Loops that stay loops.

use crate::kernel::{Block, Kernel, Statement};
use weft_partition::Target;

/// Rounds that all invocations of a kernel make together, where what they cost is less than what it costs to compile them: a millisecond.
const MOST_ROUNDS: u64 = 1 << 18;

/// The kernel with the extents of its loops [hidden from the driver](Kernel::rolled), where lanes of the device
/// [access memory one after the other](weft_partition::Hardware::serial_access) and all invocations together make at most 262,144 rounds, one of each loop that goes on
/// as long as values tell; any other as it is. What is computed is the same.
///
/// Drivers write loops of few rounds out. Where an access is a loop over the lanes in the driver's code, each one that is written out takes a millisecond to compile, which llvmpipe
/// does at the first launch: a training step of a small transformer, 74 kernels, takes 25 s with its loops written out, and 14 s without. How long it runs does not tell
/// the two apart.
///
/// A round of which an invocation is not sure whether its neighbors make it is none in which they wait for each other: loops in which they do stay as they are,
/// and so do all of a kernel that waits where the results of others tell.
#[must_use]
pub fn roll(kernel: &Kernel, target: &Target) -> Kernel {
    let invocations = kernel.entry.extents.iter().map(|extent| u64::try_from(*extent).unwrap_or(u64::MAX));
    let rounds = || invocations.fold(kernel.rounds(), u64::saturating_mul);
    let is_wished = target.hardware.serial_access
        && kernel.bodies().any(|function| loops_alone(&function.body))
        && rounds() <= MOST_ROUNDS;
    if !is_wished {
        return kernel.clone();
    }
    let rolled = Kernel { rolled: true, ..kernel.clone() };
    if rolled.verify_rules().is_err() { kernel.clone() } else { rolled }
}

/// Whether a block has a loop in which invocations do nothing together.
fn loops_alone(block: &Block) -> bool {
    block.statements.iter().any(|statement| {
        let is_alone = matches!(statement, Statement::Loop { body, .. } if !Kernel::is_together(body));
        is_alone || statement.blocks().into_iter().any(loops_alone)
    })
}
