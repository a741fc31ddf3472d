//! The header's `entry_computation_layout`.

use crate::ir::{Computation, EntryLayout, Module};

/// How the header's `entry_computation_layout` contradicts the entry computation, layouts aside: it may ask for other
/// layouts than the instructions have, never for other types or extents.
pub(super) fn mismatch(module: &Module, entry: &Computation) -> Option<String> {
    let claimed = module.entry_layout()?;
    let parameters = entry.parameters();
    let root = entry.instructions.get(entry.root)?;
    let fits = claimed.parameters.len() == parameters.len()
        && claimed
            .parameters
            .iter()
            .zip(&parameters)
            .all(|(shape, &id)| shape.is_compatible(&entry.instructions[id].shape))
        && claimed.result.is_compatible(&root.shape);
    if fits {
        return None;
    }
    let actual = EntryLayout {
        parameters: parameters.into_iter().map(|id| entry.instructions[id].shape.without_layout()).collect(),
        result: root.shape.without_layout(),
    };
    Some(format!("entry_computation_layout must describe the entry computation, which is {actual}"))
}
