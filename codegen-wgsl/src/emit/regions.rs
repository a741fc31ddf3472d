//! Computations that operations apply to elements, as functions of values.

use super::function::emit_function;
use crate::kernel::{Function, FunctionId};
use crate::wgsl::Names;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, ComputationId};
use weft_partition::Fused;

/// The regions that the functions of a kernel apply, each once; they stand behind these functions.
pub(super) struct Regions<'m> {
    fused: &'m Fused,
    /// How many functions stand before them.
    first: usize,
    applied: Vec<ComputationId>,
}

impl<'m> Regions<'m> {
    pub(super) fn new(fused: &'m Fused, first: usize) -> Self {
        Regions { fused, first, applied: Vec::new() }
    }

    /// The function that a region becomes.
    pub(super) fn function(&mut self, region: ComputationId) -> FunctionId {
        let known = self.applied.iter().position(|applied| *applied == region);
        let position = known.unwrap_or_else(|| {
            self.applied.push(region);
            self.applied.len() - 1
        });
        FunctionId::from_index(self.first + position)
    }

    /// All of them, those that regions apply behind these.
    ///
    /// # Errors
    /// `HLO411` for a region without a plan, `HLO413` for an operation that cannot be emitted.
    pub(super) fn emit(mut self, names: &mut Names) -> Result<Vec<Function>, Diagnostics> {
        let mut functions = Vec::new();
        while let Some(region) = self.applied.get(functions.len()).copied() {
            let computation = &self.fused.module.computations[region];
            let plan = self.fused.plan(region).ok_or_else(|| {
                let message = "the fused module has no plan for a computation that an operation applies";
                Diagnostic::new("HLO411", computation.span, message).about(&computation.name)
            })?;
            let name = names.take(&computation.name);
            functions.push(emit_function(computation, plan, 0, name, &[], &mut self)?);
        }
        Ok(functions)
    }
}
