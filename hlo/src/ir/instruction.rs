//! Instructions.

use super::{Attribute, InstrId, Op, Shape, Span};

/// One instruction: a named value.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its name, without `%`; unique within the computation.
    pub name: String,
    /// The shape of its value.
    pub shape: Shape,
    /// What it does.
    pub op: Op,
    /// The values it reads; each has a smaller id.
    pub operands: Vec<InstrId>,
    /// Attributes any instruction may carry (`metadata`, `sharding`, `backend_config`, …), in the order of the text.
    pub attributes: Vec<Attribute>,
    /// Where it stands in the text; no part of equality.
    pub span: Span,
}

impl PartialEq for Instruction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.shape == other.shape
            && self.op == other.op
            && self.operands == other.operands
            && self.attributes == other.attributes
    }
}

impl Eq for Instruction {}

impl Instruction {
    /// An instruction that never was text.
    pub fn new(name: impl Into<String>, shape: Shape, op: Op, operands: Vec<InstrId>) -> Self {
        Instruction { name: name.into(), shape, op, operands, attributes: Vec::new(), span: Span::default() }
    }
}
