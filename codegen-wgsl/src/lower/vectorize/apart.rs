//! Functions of the library for each lane by itself.

use crate::kernel::{Block, Function, Kernel, Operand, ScalarOp, Statement, Value, ValueId};
use crate::lower::weight::library_function;
use weft_partition::Target;

/// The kernel in which operations of one or two vectors that call a function of the library do so for one lane after the other, where the target has
/// [few registers](weft_partition::Hardware::few_registers); any other as it is. The results are the same to the bit.
#[must_use]
pub fn lanes_apart(mut kernel: Kernel, target: &Target) -> Kernel {
    if target.hardware.few_registers {
        for function in kernel.functions.values_mut().chain([&mut kernel.entry]) {
            let mut body = std::mem::take(&mut function.body);
            split(&mut body, function);
            function.body = body;
        }
    }
    kernel
}

fn split(block: &mut Block, function: &mut Function) {
    let mut statements = Vec::with_capacity(block.statements.len());
    for mut statement in std::mem::take(&mut block.statements) {
        statement.blocks_mut().into_iter().for_each(|block| split(block, function));
        match &statement {
            Statement::Let { value, op: op @ (ScalarOp::Unary { .. } | ScalarOp::Binary { .. }) }
                if function.values[*value].lanes > 1 && library_function(op, &function.values).is_some() =>
            {
                by_lane(*value, op, function, &mut statements);
            }
            _ => statements.push(statement),
        }
    }
    block.statements = statements;
}

/// The operation for each lane of its value, and the value put together of these.
fn by_lane(value: ValueId, op: &ScalarOp, function: &mut Function, out: &mut Vec<Statement>) {
    let vector = function.values[value].clone();
    let mut operands = Vec::with_capacity(vector.lanes as usize);
    for lane in 0..vector.lanes {
        let mut own = op.clone();
        for operand in own.operands_mut() {
            let Operand::Value(of) = *operand else { continue };
            if function.values[of].lanes > 1 {
                let scalar = Value { lanes: 1, ..function.values[of].clone() };
                let scalar = function.values.push(scalar);
                out.push(Statement::Let { value: scalar, op: ScalarOp::Lane { operand: *operand, lane } });
                *operand = Operand::Value(scalar);
            }
        }
        let scalar = function.values.push(Value { lanes: 1, ..vector.clone() });
        out.push(Statement::Let { value: scalar, op: own });
        operands.push(Operand::Value(scalar));
    }
    out.push(Statement::Let { value, op: ScalarOp::Compose { operands } });
}
