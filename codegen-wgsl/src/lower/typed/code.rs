//! Operations on registers, one after the other.

use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, Value, ValueId};
use std::collections::BTreeMap;
use weft_hlo::ir::{Arena, BinaryOp, ComparisonDirection, ElementType, Scalar, UnaryOp};

/// The statements of a block as they grow, and the values of their function.
pub(super) struct Code {
    pub(super) function: Function,
    pub(super) statements: Vec<Statement>,
    /// What the next values are named after.
    pub(super) name: String,
    /// The words taken from numbers of 64 bits: of which, and whether it is the high one.
    pub(super) halves: BTreeMap<ValueId, (Operand, bool)>,
}

/// A constant `u32`.
pub(super) fn word(value: u32) -> Operand {
    Operand::Constant(Scalar::U32(value))
}

/// A constant `f32`.
pub(super) fn real(value: f32) -> Operand {
    Operand::Constant(Scalar::F32(value))
}

impl Code {
    /// For a function of these extents, without anything in it.
    pub(super) fn new(name: &str, extents: Vec<i64>) -> Self {
        let (parameters, values, body) = (Vec::new(), Arena::new(), Block::default());
        let function = Function { name: name.to_owned(), extents, parameters, values, body };
        Code { function, statements: Vec::new(), name: name.to_owned(), halves: BTreeMap::new() }
    }

    /// A value that a statement is to define.
    pub(super) fn value(&mut self, element_type: ElementType) -> ValueId {
        self.function.values.push(Value::scalar(&self.name, element_type))
    }

    pub(super) fn type_of(&self, operand: Operand) -> ElementType {
        Kernel::operand_type(&self.function, operand)
    }

    /// The value of an operation.
    pub(super) fn define(&mut self, element_type: ElementType, op: ScalarOp) -> Operand {
        let value = self.value(element_type);
        self.statements.push(Statement::Let { value, op });
        Operand::Value(value)
    }

    pub(super) fn unary(&mut self, op: UnaryOp, operand: Operand) -> Operand {
        let ty = if op == UnaryOp::IsFinite { ElementType::Pred } else { self.type_of(operand) };
        self.define(ty, ScalarOp::Unary { op, operand })
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        self.define(self.type_of(a), ScalarOp::Binary { op, operands: [a, b] })
    }

    pub(super) fn add(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(BinaryOp::Add, a, b)
    }

    pub(super) fn subtract(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(BinaryOp::Subtract, a, b)
    }

    pub(super) fn multiply(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(BinaryOp::Multiply, a, b)
    }

    pub(super) fn and(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(BinaryOp::And, a, b)
    }

    pub(super) fn or(&mut self, a: Operand, b: Operand) -> Operand {
        self.binary(BinaryOp::Or, a, b)
    }

    /// A word moved up; by 32 places or more it is 0.
    pub(super) fn up(&mut self, a: Operand, by: Operand) -> Operand {
        self.binary(BinaryOp::ShiftLeft, a, by)
    }

    /// A word moved down; by 32 places or more it is 0.
    pub(super) fn down(&mut self, a: Operand, by: Operand) -> Operand {
        self.binary(BinaryOp::ShiftRightLogical, a, by)
    }

    pub(super) fn compare(&mut self, direction: ComparisonDirection, a: Operand, b: Operand) -> Operand {
        self.define(ElementType::Pred, ScalarOp::Compare { direction, order: None, operands: [a, b] })
    }

    pub(super) fn equal(&mut self, a: Operand, b: Operand) -> Operand {
        self.compare(ComparisonDirection::Eq, a, b)
    }

    pub(super) fn less(&mut self, a: Operand, b: Operand) -> Operand {
        self.compare(ComparisonDirection::Lt, a, b)
    }

    pub(super) fn select(&mut self, condition: Operand, a: Operand, b: Operand) -> Operand {
        self.define(self.type_of(a), ScalarOp::Select { operands: [condition, a, b] })
    }

    /// A number as one of another type of 32 bits.
    pub(super) fn convert(&mut self, operand: Operand, to: ElementType) -> Operand {
        if self.type_of(operand) == to { operand } else { self.define(to, ScalarOp::Convert { operand, to }) }
    }

    /// The bits as another type of 32 bits.
    pub(super) fn bitcast(&mut self, operand: Operand, to: ElementType) -> Operand {
        if self.type_of(operand) == to { operand } else { self.define(to, ScalarOp::Bitcast { operand, to }) }
    }
}
