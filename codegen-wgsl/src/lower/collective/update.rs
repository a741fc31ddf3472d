//! Updates as devices make them.

use super::Pass;
use crate::kernel::{AtomicOp, Block, Combiner, Function, Operand, ScalarOp, Space, Statement};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{BinaryOp, ElementType, Span};
use weft_partition::Form;

impl Pass<'_> {
    /// An update.
    pub(super) fn update(&mut self, statement: Statement, out: &mut Vec<Statement>) -> Result<(), Diagnostics> {
        let Statement::Update { memory, indices, combiner, value } = statement else { return Ok(()) };
        let memory_of = &self.kernel.memories[memory];
        let ty = memory_of.shape.element_type;
        if memory_of.is_buffer() && Form::of(ty).is_some_and(Form::is_packed) {
            let message = format!("updates of elements of type {ty}, which share words, cannot be compiled yet");
            return Err(Diagnostic::new("HLO413", Span::default(), message).about(&memory_of.name).into());
        }
        let Combiner::Function(function) = combiner else {
            out.push(Statement::Update { memory, indices, combiner, value });
            return Ok(());
        };
        if memory_of.space == Space::Thread {
            let register = Form::of(ty).map_or(ty, Form::register);
            let [found, combined] = ["found", "combined"].map(|name| self.new_value(name, register));
            let op = ScalarOp::Extract { memory, indices: indices.clone() };
            let arguments = vec![Operand::Value(found), value];
            out.push(Statement::Let { value: found, op });
            out.push(Statement::Call { values: vec![combined], function, indices: Vec::new(), arguments });
            out.push(Statement::Store { memory, indices, value: Operand::Value(combined) });
            return Ok(());
        }
        let combiner =
            atomic(&self.kernel.functions[function], ty).map_or(Combiner::Function(function), Combiner::Atomic);
        out.push(Statement::Update { memory, indices, combiner, value });
        Ok(())
    }
}

/// The operation that computes just what a function of two values does to elements of a type, if devices have it.
fn atomic(function: &Function, element_type: ElementType) -> Option<AtomicOp> {
    let ([found, given], Block { statements, results }) = (function.parameters.as_slice(), &function.body) else {
        return None;
    };
    let (found, given) = (Operand::Value(*found), Operand::Value(*given));
    let op = match statements.as_slice() {
        [] if *results == [given] => AtomicOp::Exchange,
        [Statement::Let { value, op: ScalarOp::Binary { op, operands } }]
            if *results == [Operand::Value(*value)] && (*operands == [found, given] || *operands == [given, found]) =>
        {
            match op {
                BinaryOp::Add => AtomicOp::Add,
                BinaryOp::Minimum => AtomicOp::Minimum,
                BinaryOp::Maximum => AtomicOp::Maximum,
                BinaryOp::And => AtomicOp::And,
                BinaryOp::Or => AtomicOp::Or,
                BinaryOp::Xor => AtomicOp::Xor,
                _ => return None,
            }
        }
        _ => return None,
    };
    op.takes(element_type).then_some(op)
}
