//! Fusion, HLO to HLO.
//!
//! The entry computation is walked from users to producers. A producer is fused into the kernels of all its users
//! unless something forbids it; then it becomes a kernel of its own:
//! - it is an output of the program, or a reduction (a reduction roots its kernel);
//! - some kernel would bind more buffers than the target allows, or grow too long;
//! - the work that is done again because it is fused, accumulated over the kernel, would pass the [`Budget`].

mod assemble;
mod given;
mod greedy;
mod legalize;

use crate::cost::Budget;
use crate::{Target, legal};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::Module;
use weft_hlo::passes;

/// What became of one instruction of the program, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The instruction, by its name in the flattened program.
    pub instruction: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// What became of an instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is computed in the kernels of its users.
    Fused,
    /// It is a kernel's result.
    Kernel,
    /// A fusion of the program was taken apart.
    Dissolved,
    /// A fusion of the program was kept.
    Kept,
}

/// A fused module with the decisions that led to it.
#[derive(Clone, Debug)]
pub struct Fused {
    /// The module. Its entry computation holds parameters, constants, fusions, `get-tuple-element` of fusions with
    /// several outputs, and at its root possibly a flat `tuple`.
    pub module: Module,
    /// One per instruction considered, in the order of the decisions (users before producers).
    pub decisions: Vec<Decision>,
}

/// Fuses a module for a target. The entry is walked from users to producers, and a producer goes into the kernels of all
/// its users unless it is an output or a reduction, a kernel would bind more buffers than the target allows or grow too
/// long, or the work done again would pass the [`Budget`](crate::Budget). Calls are inlined and tuples taken apart
/// first, so parameters and results of the entry computation are the leaves of the program's, in order.
///
/// # Errors
/// What cannot be compiled is refused: `HLO401`–`HLO404`, and the errors of [`passes::flatten`].
pub fn fuse(module: &Module, target: &Target) -> Result<Module, Diagnostics> {
    fuse_explained(module, target).map(|fused| fused.module)
}

/// As [`fuse`], with the reasons.
///
/// # Errors
/// As [`fuse`].
pub fn fuse_explained(module: &Module, target: &Target) -> Result<Fused, Diagnostics> {
    legal::check(module)?;
    let budget = Budget::default();
    let mut decisions = Vec::new();
    let flat = passes::flatten(&given::dissolve_nested(module))?;
    let flat = given::dissolve_costly(flat, target, &budget, &mut decisions)?;
    let flat = legalize::split_wide_concatenates(flat, target);
    let greedy = greedy::decide(flat.entry_computation(), target, &budget, &mut decisions)?;
    for decision in &decisions {
        tracing::debug!(
            instruction = %decision.instruction,
            verdict = ?decision.verdict,
            reason = %decision.reason,
            "fusion decision"
        );
    }
    Ok(Fused { module: assemble::assemble(&flat, &greedy), decisions })
}
