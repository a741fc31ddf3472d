//! Elementwise HLO operations as operations on scalars.

use crate::kernel::{Block, Function, Operand, ScalarOp, Statement, Value};
use weft_hlo::ir::{ArenaId, ElementType, Instruction, Op, Scalar};

/// The scalar operation of an elementwise instruction, or `None` for an operation that only moves elements.
pub(crate) fn scalar_op(instruction: &Instruction, operands: &[Operand]) -> Option<ScalarOp> {
    Some(match (&instruction.op, operands) {
        (Op::Unary(op), [operand]) => ScalarOp::Unary { op: *op, operand: *operand },
        (Op::Binary(op), [a, b]) => ScalarOp::Binary { op: *op, operands: [*a, *b] },
        (Op::Compare { direction, order }, [a, b]) => {
            ScalarOp::Compare { direction: *direction, order: *order, operands: [*a, *b] }
        }
        (Op::Select, [a, b, c]) => ScalarOp::Select { operands: [*a, *b, *c] },
        (Op::Clamp, [a, b, c]) => ScalarOp::Clamp { operands: [*a, *b, *c] },
        (Op::Convert, [operand]) => ScalarOp::Convert { operand: *operand, to: element_type(instruction) },
        (Op::Complex, [re, im]) => ScalarOp::Complex { operands: [*re, *im] },
        (Op::Real, [operand]) => ScalarOp::Real { operand: *operand },
        (Op::Imag, [operand]) => ScalarOp::Imag { operand: *operand },
        (Op::ReducePrecision { exponent_bits, mantissa_bits }, [operand]) => ScalarOp::ReducePrecision {
            operand: *operand,
            exponent_bits: u32::try_from(*exponent_bits).ok()?,
            mantissa_bits: u32::try_from(*mantissa_bits).ok()?,
        },
        _ => return None,
    })
}

/// The element type of an array; of a tuple, that of its first array.
pub(crate) fn element_type(instruction: &Instruction) -> ElementType {
    let leaf = instruction.shape.leaves().first().and_then(|leaf| leaf.as_array());
    leaf.map_or(ElementType::Pred, |array| array.element_type)
}

/// Zero of a type: stands for elements that are never read.
pub(crate) fn zero(element_type: ElementType) -> Scalar {
    // Positive zero has no bits in any type that has a zero.
    Scalar::from_bits(0, element_type)
}

/// Appends `let name = op` to a block.
pub(crate) fn define(
    function: &mut Function,
    block: &mut Block,
    name: String,
    element_type: ElementType,
    op: ScalarOp,
) -> Operand {
    debug_assert!(op.operands().iter().all(|operand| match operand {
        Operand::Value(value) => value.index() < function.values.len(),
        Operand::Constant(_) => true,
    }));
    let value = function.values.push(Value::scalar(name, element_type));
    block.statements.push(Statement::Let { value, op });
    Operand::Value(value)
}
