//! Elementwise HLO operations as operations on scalars.

use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, Value};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArenaId, Computation, ElementType, InstrId, Instruction, Op, Scalar};
use weft_partition::live;

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
    match element_type {
        ElementType::S32 => Scalar::S32(0),
        ElementType::U32 => Scalar::U32(0),
        ElementType::F32 => Scalar::F32(0.0),
        _ => Scalar::Pred(false),
    }
}

/// A computation on scalars, such as the region of a reduce, as a function of values.
///
/// # Errors
/// `HLO411` for an operation that is neither elementwise nor the identity on scalars.
pub(crate) fn region_function(name: String, region: &Computation) -> Result<Function, Diagnostics> {
    let mut function =
        Function { name, extents: Vec::new(), parameters: Vec::new(), values: Arena::new(), body: Block::default() };
    for parameter in region.parameters() {
        let parameter = &region.instructions[parameter];
        let value = Value { name: parameter.name.clone(), element_type: element_type(parameter) };
        let value = function.values.push(value);
        function.parameters.push(value);
    }
    let mut block = Block::default();
    let mut values: Vec<Vec<Operand>> = Vec::with_capacity(region.instructions.len());
    let live = live(region);
    for (id, instruction) in region.instructions.iter() {
        if !live[id.index()] {
            values.push(Vec::new());
            continue;
        }
        let one = |position: usize| {
            let operand = instruction.operands.get(position).map(|operand: &InstrId| &values[operand.index()]);
            operand.and_then(|operand| operand.first()).copied()
        };
        let operands: Vec<Operand> = (0..instruction.operands.len()).filter_map(one).collect();
        let value = match &instruction.op {
            Op::Parameter { number } => {
                let value = usize::try_from(*number).ok().and_then(|number| function.parameters.get(number));
                value.map(|value| vec![Operand::Value(*value)])
            }
            Op::Constant(literal) => literal.splat().map(|scalar| vec![Operand::Constant(scalar)]),
            Op::Tuple => Some(operands),
            Op::Bitcast | Op::BitcastConvert
                if operands.iter().any(|it| Kernel::operand_type(&function, *it) != element_type(instruction)) =>
            {
                operands.first().map(|operand| {
                    let (name, to) = (instruction.name.clone(), element_type(instruction));
                    vec![define(&mut function, &mut block, name, to, ScalarOp::Bitcast { operand: *operand, to })]
                })
            }
            Op::Broadcast { .. } | Op::Reshape | Op::Bitcast | Op::BitcastConvert | Op::Transpose { .. } | Op::Copy => {
                Some(operands)
            }
            _ => scalar_op(instruction, &operands).map(|op| {
                let name = instruction.name.clone();
                vec![define(&mut function, &mut block, name, element_type(instruction), op)]
            }),
        };
        let Some(value) = value else {
            let message = format!(
                "'{}' in the computation that an operation applies cannot be compiled yet",
                instruction.op.name()
            );
            return Err(Diagnostic::new("HLO411", instruction.span, message).about(&instruction.name).into());
        };
        values.push(value);
    }
    block.results.clone_from(&values[region.root.index()]);
    function.body = block;
    Ok(function)
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
