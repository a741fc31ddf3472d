//! Elementwise HLO operations as operations on scalars.

use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, Value};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, Computation, ElementType, InstrId, Instruction, Op, Scalar};

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
    match element_type {
        ElementType::S32 => Scalar::S32(0),
        ElementType::U32 => Scalar::U32(0),
        ElementType::F32 => Scalar::F32(0.0),
        _ => Scalar::Pred(false),
    }
}

/// Writes a computation on scalars (the region of a reduce) into a block, with `arguments` for its parameters, and
/// returns its results.
///
/// # Errors
/// `HLO411` for an operation that is neither elementwise nor the identity on scalars.
pub(crate) fn inline_region(
    function: &mut Function,
    block: &mut Block,
    region: &Computation,
    arguments: &[Operand],
) -> Result<Vec<Operand>, Diagnostics> {
    let mut values: Vec<Vec<Operand>> = Vec::with_capacity(region.instructions.len());
    for instruction in region.instructions.values() {
        let one = |position: usize| {
            let operand = instruction.operands.get(position).map(|operand: &InstrId| &values[operand.index()]);
            operand.and_then(|operand| operand.first()).copied()
        };
        let operands: Vec<Operand> = (0..instruction.operands.len()).filter_map(one).collect();
        let value = match &instruction.op {
            Op::Parameter { number } => {
                let argument = usize::try_from(*number).ok().and_then(|number| arguments.get(number));
                argument.map(|argument| vec![*argument])
            }
            Op::Constant(literal) => literal.splat().map(|scalar| vec![Operand::Constant(scalar)]),
            Op::Tuple => Some(operands),
            Op::Bitcast | Op::BitcastConvert
                if operands.iter().any(|it| Kernel::operand_type(function, *it) != element_type(instruction)) =>
            {
                operands.first().map(|operand| {
                    let (name, to) = (instruction.name.clone(), element_type(instruction));
                    vec![define(function, block, name, to, ScalarOp::Bitcast { operand: *operand, to })]
                })
            }
            Op::Broadcast { .. } | Op::Reshape | Op::Bitcast | Op::BitcastConvert | Op::Transpose { .. } | Op::Copy => {
                Some(operands)
            }
            _ => scalar_op(instruction, &operands).map(|op| {
                let name = instruction.name.clone();
                vec![define(function, block, name, element_type(instruction), op)]
            }),
        };
        let Some(value) = value else {
            let message = format!("'{}' in the region of a reduce cannot be compiled yet", instruction.op.name());
            return Err(Diagnostic::new("HLO411", instruction.span, message).about(&instruction.name).into());
        };
        values.push(value);
    }
    Ok(values[region.root.index()].clone())
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
    let value = function.values.push(Value { name, element_type });
    block.statements.push(Statement::Let { value, op });
    Operand::Value(value)
}
