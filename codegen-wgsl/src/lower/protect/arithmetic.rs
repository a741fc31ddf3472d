//! Which operations a driver's algebra knows.

use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, ValueId};
use std::collections::BTreeMap;
use weft_hlo::ir::{BinaryOp, ElementType, UnaryOp};

/// Whether drivers compute with values of a type as with real numbers.
pub(super) fn is_number(element_type: ElementType) -> bool {
    matches!(element_type, ElementType::F32 | ElementType::F64)
}

/// What a loop does with what it carries from round to round.
pub(super) struct Carried<'b> {
    /// The operations of the body's own, by value.
    defined: BTreeMap<ValueId, &'b ScalarOp>,
    /// The arithmetic that each accumulator is an operand of, once for each time.
    uses: BTreeMap<ValueId, Vec<&'b ScalarOp>>,
}

impl<'b> Carried<'b> {
    pub(super) fn of(function: &Function, body: &'b Block, accumulators: &[ValueId]) -> Carried<'b> {
        let defined = body.statements.iter().filter_map(|statement| match statement {
            Statement::Let { value, op } => Some((*value, op)),
            _ => None,
        });
        let uses = accumulators.iter().map(|accumulator| (*accumulator, Vec::new())).collect();
        let mut carried = Carried { defined: defined.collect(), uses };
        carried.add_uses(function, body);
        carried
    }

    fn add_uses(&mut self, function: &Function, block: &'b Block) {
        for statement in &block.statements {
            if let Statement::Let { op, .. } = statement
                && is_arithmetic(function, op)
            {
                for operand in op.operands() {
                    if let Operand::Value(value) = operand
                        && let Some(uses) = self.uses.get_mut(&value)
                    {
                        uses.push(op);
                    }
                }
            }
            statement.blocks().into_iter().for_each(|block| self.add_uses(function, block));
        }
    }

    /// The operation of the body's own that an operand is the value of.
    pub(super) fn defining(&self, operand: Operand) -> Option<&'b ScalarOp> {
        match operand {
            Operand::Value(value) => self.defined.get(&value).copied(),
            Operand::Constant(_) => None,
        }
    }

    /// Whether all that the loop does with an accumulator is to add to it, or to multiply it, so that the order
    /// is open; or nothing that a driver's algebra knows.
    pub(super) fn is_order_open(&self, accumulator: ValueId, result: Operand) -> bool {
        let folds = |op: &ScalarOp| matches!(op, ScalarOp::Binary { op: BinaryOp::Add | BinaryOp::Multiply, .. });
        match self.uses.get(&accumulator).map(Vec::as_slice) {
            None | Some([]) => true,
            Some([only]) => folds(only) && self.defining(result).is_some_and(|op| std::ptr::eq(op, *only)),
            Some(_) => false,
        }
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
