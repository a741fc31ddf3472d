//! Shape inference for instructions whose text leaves the shape out: `y = add(x, x)`.

use super::Parser;
use super::computation::Signature;
use super::instruction::OperandShape;
use super::operation::name_all_dimensions;
use crate::ir::{Computation, ComputationId, InstrId, Module};
use crate::text::codes;
use crate::text::lexer::failure;
use crate::verify::{ShapeInference, Unknown};
use std::collections::HashSet;

/// What of a computation waits for shapes.
pub(super) struct Shapeless {
    /// The instructions without one, operands before users.
    pub(super) instructions: Vec<InstrId>,
    /// The shapes before operands, which are yet to be compared.
    pub(super) operand_shapes: Vec<OperandShape>,
    /// What the header says.
    pub(super) signature: Option<Signature>,
}

impl Parser<'_> {
    /// Gives shapes to the instructions that have none, and then checks what waited for them.
    pub(super) fn infer_shapes(&mut self, module: &mut Module, shapeless: Vec<(ComputationId, Shapeless)>) {
        if shapeless.is_empty() {
            return;
        }
        let inference = ShapeInference::new(module);
        // Of what reads a shape that is not known nothing is known either.
        let mut unknown: HashSet<(ComputationId, InstrId)> = HashSet::new();
        for (id, open) in shapeless {
            let mut complete = true;
            for &at in &open.instructions {
                let instruction = &module.computations[id].instructions[at];
                let callees = instruction.op.called_computations();
                let roots = callees.iter().map(|&callee| (callee, module.computations[callee].root));
                let operands = instruction.operands.iter().map(|&operand| (id, operand));
                if operands.chain(roots).any(|it| unknown.contains(&it)) {
                    unknown.insert((id, at));
                    complete = false;
                    continue;
                }
                if let Some(&first) = instruction.operands.first() {
                    let shape = module.computations[id].instructions[first].shape.clone();
                    name_all_dimensions(&mut module.computations[id].instructions[at].op, &shape);
                }
                let instruction = &module.computations[id].instructions[at];
                match inference.shape(module, &module.computations[id].instructions, instruction) {
                    Ok(shape) => module.computations[id].instructions[at].shape = shape,
                    Err(Unknown { message: why, .. }) => {
                        unknown.insert((id, at));
                        complete = false;
                        let name = &instruction.name;
                        let about = format!("{}/{name}", module.computations[id].name);
                        let message = format!("the shape of `{name}` does not follow: {why}");
                        self.report(failure(codes::SHAPE, instruction.span, message).about(about));
                    }
                }
            }
            if complete {
                let computation: &Computation = &module.computations[id];
                self.check_shapes(&open.operand_shapes, open.signature.as_ref(), computation);
            }
        }
    }
}
