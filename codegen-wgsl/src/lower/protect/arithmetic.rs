//! Which operations a driver's algebra knows.

use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, ValueId};
use weft_hlo::ir::{BinaryOp, ElementType, UnaryOp};

/// Whether drivers compute with values of a type as with real numbers.
pub(super) fn is_number(element_type: ElementType) -> bool {
    matches!(element_type, ElementType::F32 | ElementType::F64)
}

/// The operation of a block's own that an operand is the value of.
pub(super) fn defining(block: &Block, operand: Operand) -> Option<&ScalarOp> {
    block.statements.iter().find_map(|statement| match statement {
        Statement::Let { value, op } if Operand::Value(*value) == operand => Some(op),
        _ => None,
    })
}

/// Whether all that a loop does with what it carries from round to round is to add to it, or to multiply it, so that the order
/// is open; or nothing that a driver's algebra knows.
pub(super) fn is_order_open(function: &Function, body: &Block, accumulator: ValueId, result: Operand) -> bool {
    let mut uses = Vec::new();
    arithmetic_uses(function, body, accumulator, &mut uses);
    let folds = |op: &ScalarOp| matches!(op, ScalarOp::Binary { op: BinaryOp::Add | BinaryOp::Multiply, .. });
    match uses.as_slice() {
        [] => true,
        [only] => folds(only) && defining(body, result).is_some_and(|op| std::ptr::eq(op, *only)),
        _ => false,
    }
}

/// The arithmetic that a value is an operand of, once for each time.
fn arithmetic_uses<'b>(function: &Function, block: &'b Block, value: ValueId, uses: &mut Vec<&'b ScalarOp>) {
    for statement in &block.statements {
        if let Statement::Let { op, .. } = statement
            && is_arithmetic(function, op)
        {
            let times = op.operands().into_iter().filter(|operand| *operand == Operand::Value(value)).count();
            uses.extend(std::iter::repeat_n(op, times));
        }
        statement.blocks().into_iter().for_each(|block| arithmetic_uses(function, block, value, uses));
    }
}

/// Whether drivers reassociate this operation.
pub(super) fn is_arithmetic(function: &Function, op: &ScalarOp) -> bool {
    let reassociates = match op {
        ScalarOp::Binary { op, .. } => {
            matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide)
        }
        ScalarOp::Unary { op, .. } => *op == UnaryOp::Negate,
        _ => false,
    };
    reassociates && is_of_numbers(function, op)
}

/// Whether the operation is written as arithmetic, or comparisons, with its operand: all functions but those that pass
/// it on, look at its bits, clamp it first (as `exp_f32` does) or round it as hardware does.
pub(super) fn calculates(function: &Function, op: &ScalarOp) -> bool {
    let calculates = match op {
        ScalarOp::Unary { op, .. } => !matches!(
            op,
            UnaryOp::Abs
                | UnaryOp::Cbrt
                | UnaryOp::Ceil
                | UnaryOp::Exponential
                | UnaryOp::Floor
                | UnaryOp::IsFinite
                | UnaryOp::Log
                | UnaryOp::Logistic
                | UnaryOp::RoundNearestEven
                | UnaryOp::Sign
        ),
        ScalarOp::Binary { op, .. } => !matches!(op, BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Remainder),
        ScalarOp::Convert { to, .. } => matches!(to, ElementType::S32 | ElementType::U32),
        _ => false,
    };
    calculates && is_of_numbers(function, op)
}

fn is_of_numbers(function: &Function, op: &ScalarOp) -> bool {
    op.operands().first().is_some_and(|operand| is_number(Kernel::operand_type(function, *operand)))
}
