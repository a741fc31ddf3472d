//! How the elements of a kernel are shared out among invocations: formulae of shapes and the target.

use crate::Target;

/// Elements from which on a workgroup is given [`MANY_THREADS`] invocations; with fewer, smaller groups occupy more cores.
const MANY_ELEMENTS: i64 = 1 << 16;
const MANY_THREADS: u32 = 256;
const FEW_THREADS: u32 = 64;

/// The launch of a loop: each invocation computes so many neighboring elements of each output.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Invocations of a workgroup.
    pub threads: u32,
    /// Elements of an output that one invocation computes.
    pub elements: u32,
}

impl Tiling {
    /// The launch of a loop over `elements` elements: 256 invocations a workgroup from 2^16 elements on and 64 before, or as many
    /// as the target allows; one element each.
    pub fn of_loop(elements: i64, target: &Target) -> Tiling {
        let preferred = if elements >= MANY_ELEMENTS { MANY_THREADS } else { FEW_THREADS };
        let most = target.max_invocations_per_workgroup.min(target.max_workgroup_size_x);
        Tiling { threads: preferred.min(most).max(1), elements: 1 }
    }
}
