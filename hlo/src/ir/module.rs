//! Modules.

use super::{Arena, Attribute, Computation, ComputationId};

/// A program: computations, one of which is the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// What the header says (`is_scheduled=true`, `entry_computation_layout={…}`, …), in the order of the text.
    pub attributes: Vec<Attribute>,
    /// The tables `FileNames`, `FunctionNames`, `FileLocations`, `StackFrames`, in the order of the text: the
    /// heading and its lines.
    pub tables: Vec<(String, Vec<String>)>,
    /// Computations, callees before callers.
    pub computations: Arena<ComputationId, Computation>,
    /// The computation that runs.
    pub entry: ComputationId,
}

impl Module {
    /// The computation that runs.
    pub fn entry_computation(&self) -> &Computation {
        &self.computations[self.entry]
    }

    /// The value of a header attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.value.as_str())
    }

    /// How many instructions all computations have together.
    pub fn instruction_count(&self) -> usize {
        self.computations.values().map(|computation| computation.instructions.len()).sum()
    }
}
