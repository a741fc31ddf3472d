//! Computations that operations apply to elements, as functions of values.

use super::function::emit_function;
use crate::kernel::{Function, FunctionId};
use crate::wgsl::Names;
use std::collections::BTreeSet;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, Computation, ComputationId};
use weft_partition::Fused;

/// The regions that the functions of a kernel apply, each once; their functions stand behind these.
pub(super) struct Regions<'m> {
    fused: &'m Fused,
    /// How many functions stand before them.
    first: usize,
    applied: Vec<ComputationId>,
}

impl<'m> Regions<'m> {
    /// The regions that instructions of a computation apply, and those that these apply, callers before callees.
    pub(super) fn new(fused: &'m Fused, computation: &Computation, first: usize) -> Self {
        let mut found = BTreeSet::new();
        let mut pending: Vec<&Computation> = vec![computation];
        while let Some(within) = pending.pop() {
            for applied in within.instructions.values().flat_map(|instruction| instruction.op.called_computations()) {
                if found.insert(applied) {
                    pending.push(&fused.module.computations[applied]);
                }
            }
        }
        // Callees stand before their callers in a module.
        Regions { fused, first, applied: found.into_iter().rev().collect() }
    }

    /// The function that a region becomes; `None` for one that the computation does not apply.
    pub(super) fn function(&self, region: ComputationId) -> Option<FunctionId> {
        let position = self.applied.iter().position(|applied| *applied == region)?;
        Some(FunctionId::from_index(self.first + position))
    }

    /// All of them, in this order.
    ///
    /// # Errors
    /// `HLO411` for a region without a plan, `HLO413` for an operation that cannot be emitted.
    pub(super) fn emit(&self, names: &mut Names) -> Result<Vec<Function>, Diagnostics> {
        let mut functions = Vec::with_capacity(self.applied.len());
        for &region in &self.applied {
            let computation = &self.fused.module.computations[region];
            let plan = self.fused.applied_plan(region).ok_or_else(|| {
                let message = "the fused module has no plan for a computation that an operation applies";
                Diagnostic::new("HLO411", computation.span, message).about(&computation.name)
            })?;
            let name = names.take(&computation.name);
            functions.push(emit_function(computation, plan, 0, name, (&[], None), self)?);
        }
        Ok(functions)
    }
}
