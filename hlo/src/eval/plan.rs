//! The execution plan of a module: its regions, and the last use of every value.

use super::region::Region;
use crate::ir::ComputationId;
use std::collections::BTreeMap;

/// The execution plan of a module: its regions, and the last use of every value.
pub(super) struct Plan {
    /// The computations that are applied element by element.
    pub(super) regions: BTreeMap<ComputationId, Region>,
    /// For each computation that runs, the index of the last reader of each instruction; that of an instruction
    /// without readers is its own, that of the root is past the end.
    pub(super) last_uses: BTreeMap<ComputationId, Vec<usize>>,
}
