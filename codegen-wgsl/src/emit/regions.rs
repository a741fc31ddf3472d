//! Computations that operations apply to elements, as functions of values.

use crate::elemental::region_function;
use crate::kernel::{Function, FunctionId};
use crate::wgsl::Names;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, ComputationId, Module};

/// The regions that the functions of a kernel apply, each once; they stand behind these functions.
pub(super) struct Regions<'m> {
    module: &'m Module,
    /// How many functions stand before them.
    first: usize,
    applied: Vec<ComputationId>,
}

impl<'m> Regions<'m> {
    pub(super) fn new(module: &'m Module, first: usize) -> Self {
        Regions { module, first, applied: Vec::new() }
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

    /// All of them.
    ///
    /// # Errors
    /// `HLO411` for an operation that cannot be emitted.
    pub(super) fn emit(self, names: &mut Names) -> Result<Vec<Function>, Diagnostics> {
        let emit = |region: ComputationId| {
            let region = &self.module.computations[region];
            region_function(names.take(&region.name), region)
        };
        self.applied.into_iter().map(emit).collect()
    }
}
