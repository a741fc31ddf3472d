//! Computations that passes make.

use super::build::Build;
use super::names::UniqueNames;
use crate::ir::{Arena, Computation, InstrId, Instruction, Op, Shape, Span};

/// A computation while it is made. Its instructions go by the names of their operations.
pub(super) struct Draft {
    span: Span,
    instructions: Arena<InstrId, Instruction>,
    names: UniqueNames,
    parameters: i64,
}

impl Draft {
    /// A computation without instructions, made for what stands there in the text.
    pub(super) fn new(span: Span) -> Self {
        Draft { span, instructions: Arena::new(), names: UniqueNames::default(), parameters: 0 }
    }

    /// The next parameter.
    pub(super) fn parameter(&mut self, shape: Shape) -> InstrId {
        let number = self.parameters;
        self.parameters += 1;
        self.add(shape, Op::Parameter { number }, Vec::new())
    }

    /// The computation of an instruction's value.
    pub(super) fn finish(self, name: &str, root: InstrId) -> Computation {
        let Draft { span, instructions, .. } = self;
        Computation { name: name.to_owned(), instructions, root, attributes: Vec::new(), span }
    }
}

impl Build for Draft {
    fn get(&self, id: InstrId) -> &Instruction {
        &self.instructions[id]
    }

    fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let name = self.names.take(op.opcode());
        let mut added = Instruction::new(name, shape, op, operands);
        added.span = self.span;
        self.instructions.push(added)
    }
}
