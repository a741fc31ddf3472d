//! Hiding in a function what its protection says.

use super::{Protection, is_finite, is_zero};
use crate::kernel::{Block, Function, Hiding, Kernel, Operand, ScalarOp, Statement, Value, ValueId};

/// Puts what a protection says into a function.
pub(super) struct Rewrite<'p, 'f> {
    pub(super) protection: &'p Protection<'p>,
    /// The function as it was, by which types and operations are known.
    pub(super) source: Function,
    pub(super) function: &'f mut Function,
}

impl Rewrite<'_, '_> {
    pub(super) fn run(mut self) {
        let mut body = std::mem::take(&mut self.function.body);
        self.block(&mut body);
        if self.protection.returns_to_code {
            // Callers take results for opaque.
            for result in body.results.iter_mut().filter(|result| is_zero(**result)) {
                *result = self.keep(*result, 1, Hiding::Value, &mut body.statements);
            }
        }
        self.function.body = body;
    }

    fn block(&mut self, block: &mut Block) {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            statement.blocks_mut().into_iter().for_each(|block| self.block(block));
            let mut after = Vec::new();
            match &mut statement {
                Statement::Let { value, op } => {
                    let written = op.clone();
                    for (position, operand) in op.operands_mut().iter_mut().enumerate() {
                        if let Some(hiding) = self.protection.hide(&self.source, &written, position) {
                            let lanes = lanes_of(&self.source, &written, *operand, *value);
                            *operand = self.keep(*operand, lanes, hiding, &mut statements);
                        }
                    }
                    self.keep_value(value, &mut after);
                }
                Statement::Loop { values, init, accumulators, .. }
                | Statement::While { values, init, accumulators, .. } => {
                    // A driver would fold what is accumulated onto a zero.
                    let carried = init.iter_mut().zip(accumulators.iter());
                    for (init, accumulator) in carried.filter(|(init, _)| is_zero(**init)) {
                        let lanes = self.source.values[*accumulator].lanes;
                        *init = self.keep(*init, lanes, Hiding::Value, &mut statements);
                    }
                    values.iter_mut().for_each(|value| self.keep_value(value, &mut after));
                }
                _ => {}
            }
            statements.push(statement);
            statements.extend(after);
        }
        block.statements = statements;
    }

    /// A new value of so many lanes for a hidden operand.
    fn keep(&mut self, operand: Operand, lanes: u32, hiding: Hiding, statements: &mut Vec<Statement>) -> Operand {
        let name = match operand {
            Operand::Value(value) => self.source.values[value].name.clone(),
            Operand::Constant(_) if is_zero(operand) => "zero".to_owned(),
            Operand::Constant(scalar) if !is_finite(scalar) => "constant".to_owned(),
            Operand::Constant(_) => "divisor".to_owned(),
        };
        let element_type = Kernel::operand_type(&self.source, operand);
        let value = self.function.values.push(Value { name, element_type, lanes });
        statements.push(Statement::Let { value, op: ScalarOp::Keep { operand, hiding } });
        Operand::Value(value)
    }

    /// Hides a value from the statement that defines it, which gets a new one.
    fn keep_value(&mut self, value: &mut ValueId, after: &mut Vec<Statement>) {
        if self.protection.is_kept(*value) {
            let bare = self.function.values.push(self.source.values[*value].clone());
            let op = ScalarOp::Keep { operand: Operand::Value(bare), hiding: Hiding::Value };
            after.push(Statement::Let { value: *value, op });
            *value = bare;
        }
    }
}

/// The lanes of an operand of an operation that defines a value; a constant has those that it is used in.
fn lanes_of(function: &Function, op: &ScalarOp, operand: Operand, value: ValueId) -> u32 {
    match operand {
        Operand::Value(operand) => function.values[operand].lanes,
        Operand::Constant(_) if op.is_lane_wise() => function.values[value].lanes,
        Operand::Constant(_) => 1,
    }
}
