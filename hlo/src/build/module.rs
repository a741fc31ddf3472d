//! Building a module computation by computation.

use super::ComputationBuilder;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Arena, ArenaId, Computation, ComputationId, HeaderAttribute, Module, UniqueNames};
use crate::verify::{ShapeInference, code, verify};

/// A module under construction: computations, callees before callers.
#[derive(Clone, Debug)]
pub struct ModuleBuilder {
    pub(super) module: Module,
    pub(super) inference: ShapeInference,
    names: UniqueNames,
}

impl ModuleBuilder {
    /// A module of this name without computations.
    pub fn new(name: impl Into<String>) -> Self {
        let module = Module {
            name: name.into(),
            attributes: Vec::new(),
            tables: Vec::new(),
            computations: Arena::new(),
            entry: ComputationId::from_index(0),
        };
        let inference = ShapeInference::new(&module);
        ModuleBuilder { module, inference, names: UniqueNames::default() }
    }

    /// Says something in the header, in place of what it said of the same before.
    pub fn set_attribute(&mut self, attribute: HeaderAttribute) {
        let kind = std::mem::discriminant(&attribute);
        let attributes = &mut self.module.attributes;
        match attributes.iter_mut().find(|known| std::mem::discriminant(*known) == kind) {
            Some(known) => *known = attribute,
            None => attributes.push(attribute),
        }
    }

    /// A computation without instructions, which [`ComputationBuilder::finish`] adds to the module.
    pub fn computation(&mut self, name: impl Into<String>) -> ComputationBuilder<'_> {
        ComputationBuilder::of(Some(self), name.into())
    }

    /// The computations added so far.
    pub fn computations(&self) -> &Arena<ComputationId, Computation> {
        &self.module.computations
    }

    /// Adds a computation; where its name is taken, a number is added to it.
    ///
    /// # Errors
    /// `HLO102` if its root does not exist; `HLO112` if it calls a computation that the module does not have.
    pub fn add(&mut self, mut computation: Computation) -> Result<ComputationId, Diagnostic> {
        let refused = |code, message: String| {
            Err(Diagnostic::new(code, computation.span, message).about(computation.name.as_str()))
        };
        if computation.instructions.get(computation.root).is_none() {
            return refused(code::ROOT, format!("{} has no root", computation.name));
        }
        for instruction in computation.instructions.values() {
            let callees = instruction.op.called_computations();
            if callees.iter().any(|callee| self.module.computations.get(*callee).is_none()) {
                let message = format!("{} calls a computation that the module does not have", instruction.name);
                return refused(code::CALL_ORDER, message);
            }
        }
        computation.name = self.names.take(&computation.name);
        self.inference.add(&computation);
        Ok(self.module.computations.push(computation))
    }

    /// The module, whose entry is `entry`, without the checks of [`finish`](Self::finish).
    pub(crate) fn finish_unchecked(self, entry: ComputationId) -> Module {
        Module { entry, ..self.module }
    }

    /// The module, whose entry is `entry`.
    ///
    /// # Errors
    /// All findings of the [verifier](crate::verify): of single instructions only what the builder was not asked to check
    /// ([`ComputationBuilder::push`]), of the module what concerns several of them, such as the pairing of asynchronous
    /// operations.
    pub fn finish(self, entry: ComputationId) -> Result<Module, Diagnostics> {
        let module = self.finish_unchecked(entry);
        verify(&module)?;
        Ok(module)
    }
}
