//! Computations that passes make for instructions to call.

use super::build::Build;
use crate::build::ComputationBuilder;
use crate::ir::{Computation, InstrId, Instruction, Op, Shape, Span};

/// A computation that a pass makes, of instructions whose shapes it knows.
pub(super) struct Callee(ComputationBuilder<'static>);

impl Callee {
    /// A computation without instructions, made for what stands there in the text.
    pub(super) fn new(name: &str, span: Span) -> Self {
        Callee(ComputationBuilder::detached(name).at(span))
    }

    /// The next parameter.
    pub(super) fn parameter(&mut self, shape: Shape) -> InstrId {
        self.0.parameter(shape)
    }

    /// The computation of an instruction's value.
    pub(super) fn finish(self, root: InstrId) -> Computation {
        self.0.finish_detached(root)
    }
}

impl Build for Callee {
    fn get(&self, id: InstrId) -> &Instruction {
        &self.0.instructions()[id]
    }

    fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        self.0.insert(shape, op, operands)
    }
}
