//! Modules.

use super::{Arena, Computation, ComputationId, EntryLayout, HeaderAttribute};

/// A program: computations, one of which is the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// What the header says besides the name, in the order of the text, each attribute at most once.
    pub attributes: Vec<HeaderAttribute>,
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

    /// The layouts of arguments and result, if the header says them.
    pub fn entry_layout(&self) -> Option<&EntryLayout> {
        self.attributes.iter().find_map(|attribute| match attribute {
            HeaderAttribute::EntryComputationLayout(layout) => Some(layout),
            _ => None,
        })
    }

    /// Whether the order of instructions is the order in which they run.
    pub fn is_scheduled(&self) -> bool {
        self.attributes.contains(&HeaderAttribute::IsScheduled(true))
    }

    /// How many replicas run the module, if the header says it.
    pub fn replica_count(&self) -> Option<i64> {
        self.attributes.iter().find_map(|attribute| match attribute {
            HeaderAttribute::ReplicaCount(count) => Some(*count),
            _ => None,
        })
    }

    /// Into how many partitions the module is cut, if the header says it.
    pub fn num_partitions(&self) -> Option<i64> {
        self.attributes.iter().find_map(|attribute| match attribute {
            HeaderAttribute::NumPartitions(count) => Some(*count),
            _ => None,
        })
    }

    /// How many instructions all computations have together.
    pub fn instruction_count(&self) -> usize {
        self.computations.values().map(|computation| computation.instructions.len()).sum()
    }
}
