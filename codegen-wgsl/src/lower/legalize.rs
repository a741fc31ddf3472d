//! Operations that WGSL does not have, as those that it has, and what a device does not round to the nearest.

mod rounded;

use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, Value};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ElementType, Scalar, UnaryOp};
use weft_partition::{Arithmetic, Target};

/// The kernel without `clamp`, which becomes a maximum and a minimum, and with maxima and minima of an `f32` and a constant as a
/// comparison and a selection, which are exact for NaN too at a quarter of the cost. Quotients and square roots of `f32` that the target does not round
/// to the nearest ([`Arithmetic::exact_division`], [`Arithmetic::exact_sqrt`]) are corrected to less than a unit in the last place.
#[must_use]
pub fn legalize(kernel: &Kernel, target: &Target) -> Kernel {
    let mut legal = kernel.clone();
    for function in legal.functions.values_mut().chain([&mut legal.entry]) {
        let mut body = std::mem::take(&mut function.body);
        block(&mut body, function, &target.arithmetic);
        function.body = body;
    }
    legal
}

fn block(body: &mut Block, function: &mut Function, arithmetic: &Arithmetic) {
    let mut statements = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        statement.blocks_mut().into_iter().for_each(|inner| block(inner, function, arithmetic));
        if let Statement::Let { value, op } = &statement {
            match *op {
                ScalarOp::Binary { op: BinaryOp::Divide, operands }
                    if !arithmetic.exact_division && is_rounded(function, operands) =>
                {
                    rounded::quotient(*value, operands, *arithmetic, function, &mut statements);
                    continue;
                }
                ScalarOp::Unary { op: UnaryOp::Sqrt, operand }
                    if !arithmetic.exact_sqrt && Kernel::operand_type(function, operand) == ElementType::F32 =>
                {
                    rounded::square_root(*value, operand, *arithmetic, function, &mut statements);
                    continue;
                }
                _ => {}
            }
        }
        if let Statement::Let { value, op: ScalarOp::Clamp { operands: [low, operand, high] } } = statement {
            let known = function.values[value].clone();
            let raised = function.values.push(known);
            let maximum = ScalarOp::Binary { op: BinaryOp::Maximum, operands: [operand, low] };
            push(Statement::Let { value: raised, op: maximum }, function, &mut statements);
            let minimum = ScalarOp::Binary { op: BinaryOp::Minimum, operands: [Operand::Value(raised), high] };
            push(Statement::Let { value, op: minimum }, function, &mut statements);
        } else {
            push(statement, function, &mut statements);
        }
    }
    body.statements = statements;
}

/// Whether a quotient of these operands has to be corrected: it is one of `f32`, not by a power of two whose inverse is a normal number, and not of a constant that decides it.
fn is_rounded(function: &Function, operands: [Operand; 2]) -> bool {
    let is_power_of_two = |operand: Operand| match operand {
        Operand::Constant(Scalar::F32(value)) => {
            value.is_normal() && value.to_bits().trailing_zeros() >= 23 && value.recip().is_normal()
        }
        _ => false,
    };
    let is_f32 = Kernel::operand_type(function, operands[1]) == ElementType::F32;
    is_f32 && !is_power_of_two(operands[1]) && operands.into_iter().all(rounded::may_be_normal)
}

fn push(statement: Statement, function: &mut Function, statements: &mut Vec<Statement>) {
    let Statement::Let { value, op: ScalarOp::Binary { op, operands } } = &statement else {
        statements.push(statement);
        return;
    };
    let (operand, constant) = match *operands {
        [Operand::Constant(constant), operand @ Operand::Value(_)]
        | [operand @ Operand::Value(_), Operand::Constant(constant)] => (operand, constant),
        _ => {
            statements.push(statement);
            return;
        }
    };
    let Some(direction) = replaces(*op, constant) else {
        statements.push(statement);
        return;
    };
    let constant = Operand::Constant(constant);
    let name = format!("{}.is", function.values[*value].name);
    let is =
        function.values.push(Value { name, element_type: ElementType::Pred, lanes: function.values[*value].lanes });
    let op = ScalarOp::Compare { direction, order: None, operands: [operand, constant] };
    statements.push(Statement::Let { value: is, op });
    let op = ScalarOp::Select { operands: [Operand::Value(is), constant, operand] };
    statements.push(Statement::Let { value: *value, op });
}

/// How a number relates to a constant that is the result instead of it, if a comparison decides it.
///
/// NaN compares false and stays. A zero is chosen where the other zero must give way to it; where it must give way itself, and
/// for subnormal constants, a device that takes subnormal numbers for zeros would go wrong.
fn replaces(op: BinaryOp, constant: Scalar) -> Option<ComparisonDirection> {
    let Scalar::F32(constant) = constant else { return None };
    let is_plain = constant.is_normal() || constant.is_infinite();
    match op {
        BinaryOp::Maximum if is_plain => Some(ComparisonDirection::Lt),
        BinaryOp::Minimum if is_plain => Some(ComparisonDirection::Gt),
        BinaryOp::Maximum if constant.to_bits() == 0 => Some(ComparisonDirection::Le),
        BinaryOp::Minimum if constant.to_bits() == 1 << 31 => Some(ComparisonDirection::Ge),
        _ => None,
    }
}
