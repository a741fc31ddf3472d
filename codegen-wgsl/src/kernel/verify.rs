//! The rules every kernel keeps, at every stage.

mod function;

use super::{FunctionId, Kernel, Store, Tensor, TensorId};
use function::FunctionRules;
use std::collections::BTreeSet;
use std::fmt;
use weft_hlo::ir::{ArenaId, ElementType};

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The function or tensor concerned, as the text spells it; `entry` for the entry.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for Finding {}

impl Kernel {
    /// Checks that the kernel makes sense:
    /// - names are distinct, extents not negative, shapes static and without layouts;
    /// - every value is defined once, before its uses, in the block of the use or one around it;
    /// - types agree, and so do the lengths of everything that is passed, yielded, carried or returned;
    /// - indices use the function's `d` and the innermost loop's `s` alone, one per dimension or, flat, a single one;
    /// - only tensors that are not written are read;
    /// - functions call later ones only, so no function can reach itself;
    /// - the entry writes every element of every writable tensor exactly once, by functions of the tensor's extents or,
    ///   flat, of its number of elements, and launches enough invocations, no more than 32 bits number.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the text. A value used without a definition is reported once per use.
    pub fn verify(&self) -> Result<(), Vec<Finding>> {
        let mut findings = Findings(Vec::new());
        self.verify_names(&mut findings);
        for (id, function) in self.functions.iter() {
            FunctionRules::check(self, id, function, &mut findings);
        }
        self.verify_entry(&mut findings);
        if findings.0.is_empty() { Ok(()) } else { Err(findings.0) }
    }

    fn verify_names(&self, findings: &mut Findings) {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for tensor in self.tensors.values() {
            let place = format!("%{}", tensor.name);
            if !names.insert(&tensor.name) {
                findings.add(&place, "another tensor has this name");
            }
            if tensor.shape.extents.iter().any(|extent| *extent < 0) {
                findings.add(&place, "an extent is negative");
            }
            if tensor.shape.layout.is_some() || !tensor.shape.dynamic.is_empty() {
                findings.add(&place, "the shape has a layout or a dynamic dimension");
            }
        }
        for function in self.functions.values() {
            if !names.insert(&function.name) {
                findings.add(&format!("@{}", function.name), "another function or a tensor has this name");
            }
        }
    }

    fn verify_entry(&self, findings: &mut Findings) {
        let mut written: Vec<TensorId> = Vec::new();
        let sides = self.entry.workgroups.iter().chain([&self.entry.workgroup_size]);
        let launched = sides.fold(1i128, |count, side| count.saturating_mul(i128::from(*side)));
        if self.entry.workgroup_size == 0 {
            findings.add("entry", "a workgroup has no invocations");
        }
        if launched > 1 << 32 {
            findings.add("entry", format!("{launched} invocations are more than 32 bits number"));
        }
        for store in &self.entry.stores {
            let Some(function) = self.functions.get(store.function) else {
                findings.add("entry", format!("there is no function number {}", store.function.index()));
                continue;
            };
            let name = &function.name;
            if elements(&function.extents).is_none_or(|count| count > launched) {
                findings.add("entry", format!("{launched} invocations are too few for @{name}"));
            }
            let results = function::result_types(function);
            if results.len() != store.tensors.len() {
                let message = format!("@{name} returns {} values for {} tensors", results.len(), store.tensors.len());
                findings.add("entry", message);
            }
            for (position, id) in store.tensors.iter().enumerate() {
                let Some(tensor) = self.tensors.get(*id) else {
                    findings.add("entry", format!("there is no tensor number {}", id.index()));
                    continue;
                };
                self.verify_store(store, tensor, results.get(position).copied().flatten(), findings);
                written.push(*id);
            }
        }
        for (id, tensor) in self.tensors.iter() {
            let times = written.iter().filter(|written| **written == id).count();
            if tensor.writable && times != 1 {
                findings.add("entry", format!("%{} is written {times} times", tensor.name));
            } else if !tensor.writable && times != 0 {
                findings.add("entry", format!("%{} is written, but only to be read", tensor.name));
            }
        }
    }

    fn verify_store(&self, store: &Store, tensor: &Tensor, result: Option<ElementType>, findings: &mut Findings) {
        let function = &self.functions[store.function];
        let shape = &tensor.shape;
        let flat = || {
            elements(&shape.extents).is_some_and(|count| function.extents.iter().map(|e| i128::from(*e)).eq([count]))
        };
        if function.extents != shape.extents && !flat() {
            let message = format!("@{} does not have the extents of %{}, {shape}", function.name, tensor.name);
            findings.add("entry", message);
        }
        if let Some(result) = result
            && result != shape.element_type
        {
            let message = format!("@{} returns {result} for %{}, {shape}", function.name, tensor.name);
            findings.add("entry", message);
        }
    }

    /// How many results a function has, and their types; `None` where the type is not known.
    fn callee(&self, id: FunctionId) -> Option<(usize, Vec<Option<ElementType>>)> {
        let function = self.functions.get(id)?;
        Some((function.extents.len(), function::result_types(function)))
    }
}

/// The number of elements, if it can be counted.
fn elements(extents: &[i64]) -> Option<i128> {
    if extents.contains(&0) {
        return Some(0);
    }
    extents.iter().try_fold(1i128, |count, extent| count.checked_mul(i128::from(*extent)))
}

/// What was found so far.
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, place: &str, message: impl Into<String>) {
        self.0.push(Finding { place: place.to_owned(), message: message.into() });
    }
}
