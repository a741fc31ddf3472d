//! Constants, and protection of floats from the driver's algebra.

use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, ValueId};
use weft_hlo::ir::{ArenaId, BinaryOp, ElementType, Scalar, UnaryOp};

/// A constant as an expression that stands beside any operator.
pub(super) fn literal(scalar: Scalar) -> String {
    match scalar {
        Scalar::Pred(value) => value.to_string(),
        Scalar::U32(value) => format!("{value}u"),
        // The least i32 cannot be written as a negated literal.
        Scalar::S32(i32::MIN) => "bitcast<i32>(0x80000000u)".to_owned(),
        Scalar::S32(value) if value < 0 => format!("({value}i)"),
        Scalar::S32(value) => format!("{value}i"),
        // Infinities and NaN are no constants of the language, and a negative zero may lose its sign in one.
        Scalar::F32(value) if !value.is_finite() || value.to_bits() == 1 << 31 => {
            format!("bitcast<f32>({:#010x}u ^ params.zero)", value.to_bits())
        }
        Scalar::F32(value) if value < 0.0 => format!("({value:?}f)"),
        Scalar::F32(value) => format!("{value:?}f"),
    }
}

/// Whether an operand is the constant zero of either sign.
pub(super) fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Constant(Scalar::F32(value)) if value == 0.0)
}

/// Which values must be hidden behind `keep`.
///
/// Drivers reassociate sums and products: `(x + 1e8) - 1e8` becomes `x`. They can only do so where the result of one
/// such operation is an operand of another, so those results are hidden; what goes to memory, into a comparison or into
/// a function of the library (which guards itself) stays bare.
pub(super) struct Protection {
    kept: Vec<bool>,
    needed: Vec<bool>,
}

impl Protection {
    /// The protection of a function; `returns_to_code` if its results are used by another function.
    pub(super) fn of(function: &Function, returns_to_code: bool) -> Self {
        let count = function.values.len();
        let mut protection = Protection { kept: vec![false; count], needed: vec![false; count] };
        let mut arithmetic = vec![false; count];
        protection.block(function, &function.body, &mut arithmetic);
        if returns_to_code {
            function.body.results.iter().for_each(|result| protection.mark(*result));
        }
        for (kept, (needed, arithmetic)) in protection.kept.iter_mut().zip(protection.needed.iter().zip(&arithmetic)) {
            *kept = *needed && *arithmetic;
        }
        protection
    }

    /// Whether the value's definition is hidden.
    pub(super) fn is_kept(&self, value: ValueId) -> bool {
        self.kept[value.index()]
    }

    fn mark(&mut self, operand: Operand) {
        if let Operand::Value(value) = operand {
            self.needed[value.index()] = true;
        }
    }

    fn block(&mut self, function: &Function, block: &Block, arithmetic: &mut [bool]) {
        for statement in &block.statements {
            match statement {
                Statement::Let { value, op } => {
                    if is_arithmetic(function, op) {
                        arithmetic[value.index()] = true;
                        op.operands().into_iter().for_each(|operand| self.mark(operand));
                    }
                }
                Statement::Call { .. } => {}
                Statement::If { then, otherwise, .. } => {
                    for branch in [then, otherwise] {
                        self.block(function, branch, arithmetic);
                        branch.results.iter().for_each(|result| self.mark(*result));
                    }
                }
                Statement::Loop { body, .. } => self.block(function, body, arithmetic),
            }
        }
    }
}

/// Whether drivers reassociate this operation.
fn is_arithmetic(function: &Function, op: &ScalarOp) -> bool {
    let is_f32 =
        op.operands().first().is_some_and(|operand| Kernel::operand_type(function, *operand) == ElementType::F32);
    let reassociates = match op {
        ScalarOp::Binary { op, .. } => {
            matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide)
        }
        ScalarOp::Unary { op, .. } => *op == UnaryOp::Negate,
        _ => false,
    };
    is_f32 && reassociates
}
