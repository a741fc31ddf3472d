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
        // WGSL has no other types, and no kernel values of them.
        other => other.to_string(),
    }
}

/// Whether an operand is the constant +0, which drivers fold with. (-0 is hidden by the way it is written.)
pub(super) fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Constant(Scalar::F32(value)) if value.to_bits() == 0)
}

/// +0 that no driver sees.
pub(super) fn hidden_zero() -> String {
    Hidden::Once.write("0.0f")
}

/// How an operand is hidden where it is used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    /// Behind `keep`.
    Once,
    /// Behind another zero than `keep`'s: what is kept already, and kept again, would be bare.
    Apart,
}

impl Hidden {
    pub(super) fn write(self, text: &str) -> String {
        match self {
            Hidden::Once => format!("keep({text})"),
            Hidden::Apart => format!("keep_apart({text})"),
        }
    }
}

/// What is hidden from the driver's algebra.
///
/// Drivers reassociate sums and products (`(x + 1e8) - 1e8` becomes `x`), fold with zeros that they can compute (`x * 0` is
/// 0 to them, even for NaN) and know that `f(x) - f(x)` is 0, also of two equal calls that the program wrote. So every
/// operand of `f32` arithmetic is opaque: an element of a buffer, a literal they cannot fold with, or hidden. A computed
/// value is hidden where it is defined (`keep`), a conditional where it is used; and of a difference, a quotient or a
/// comparison the second operand, unless it is a literal or an element of a buffer that the first is not, is hidden
/// behind another zero, so that two equal values look different. Functions of the library guard themselves.
pub(super) struct Protection {
    /// Values whose definition is hidden.
    kept: Vec<bool>,
    origins: Vec<Origin>,
}

/// How a value came to be.
#[derive(Copy, Clone, PartialEq)]
enum Origin {
    /// An element of a buffer.
    Element,
    /// A scalar operation.
    Computed,
    /// The result of a function, which hides it, or of a loop.
    Opaque,
    /// One of two branches.
    Branch,
}

impl Protection {
    /// The protection of a function; `returns_to_code` if its results are used by another function.
    pub(super) fn of(function: &Function, returns_to_code: bool) -> Self {
        let count = function.values.len();
        let mut protection = Protection { kept: vec![false; count], origins: vec![Origin::Opaque; count] };
        let mut needed = vec![false; count];
        protection.block(function, &function.body, &mut needed);
        if returns_to_code {
            function.body.results.iter().for_each(|result| mark(&mut needed, *result));
        }
        for (value, kept) in protection.kept.iter_mut().enumerate() {
            let is_f32 = function.values[ValueId::from_index(value)].element_type == ElementType::F32;
            *kept = needed[value] && is_f32 && protection.origins[value] == Origin::Computed;
        }
        protection
    }

    /// Whether the value's definition is hidden.
    pub(super) fn is_kept(&self, value: ValueId) -> bool {
        self.kept[value.index()]
    }

    /// How an operand is hidden where it is used, if it is.
    pub(super) fn hide(&self, function: &Function, op: &ScalarOp, position: usize) -> Option<Hidden> {
        let operands = op.operands();
        let operand = *operands.get(position)?;
        if Kernel::operand_type(function, operand) != ElementType::F32 {
            return None;
        }
        let arithmetic = is_arithmetic(function, op);
        let compares = position == 1
            && match op {
                ScalarOp::Binary { op, .. } => matches!(op, BinaryOp::Subtract | BinaryOp::Divide),
                ScalarOp::Compare { .. } => true,
                _ => false,
            };
        match operand {
            Operand::Constant(_) if arithmetic && is_zero(operand) => Some(Hidden::Once),
            Operand::Constant(_) => None,
            Operand::Value(value) => {
                let is_element = self.origins[value.index()] == Origin::Element;
                let is_branch = self.origins[value.index()] == Origin::Branch;
                if compares && (!is_element || operands[0] == operand) {
                    Some(Hidden::Apart)
                } else if arithmetic && is_branch {
                    Some(Hidden::Once)
                } else {
                    None
                }
            }
        }
    }

    fn block(&mut self, function: &Function, block: &Block, needed: &mut [bool]) {
        for statement in &block.statements {
            match statement {
                Statement::Let { value, op } => {
                    self.origins[value.index()] =
                        if matches!(op, ScalarOp::Extract { .. }) { Origin::Element } else { Origin::Computed };
                    if is_arithmetic(function, op) {
                        op.operands().into_iter().for_each(|operand| mark(needed, operand));
                    }
                }
                Statement::Call { .. } => {}
                Statement::If { values, then, otherwise, .. } => {
                    values.iter().for_each(|value| self.origins[value.index()] = Origin::Branch);
                    for branch in [then, otherwise] {
                        self.block(function, branch, needed);
                        branch.results.iter().for_each(|result| mark(needed, *result));
                    }
                }
                Statement::Loop { body, .. } => self.block(function, body, needed),
            }
        }
    }
}

fn mark(needed: &mut [bool], operand: Operand) {
    if let Operand::Value(value) = operand {
        needed[value.index()] = true;
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
