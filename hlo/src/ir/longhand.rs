//! Asynchronous operations that are spelled without a computation.

use super::{
    Arena, ArenaId, AsyncPhase, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape, UniqueNames,
};
use std::borrow::Cow;

impl Module {
    /// The module with a computation of its own for each asynchronous operation that is spelled without one: of `sort-start`, `sort-update` and
    /// `sort-done` remain `async-start`, `async-update` and `async-done`. The module as it is where nothing is spelled so.
    ///
    /// Of a module that verifies. Else ends may follow what they do not end, or all stays as it is.
    pub fn longhand(&self) -> Cow<'_, Module> {
        let mut instructions = self.computations.values().flat_map(|computation| computation.instructions.values());
        if !instructions.any(|instruction| matches!(instruction.op, Op::AsyncShorthand { .. })) {
            return Cow::Borrowed(self);
        }
        let mut names = UniqueNames::default();
        for computation in self.computations.values() {
            names.take(&computation.name);
        }
        let mut computations: Arena<ComputationId, Computation> = Arena::new();
        let mut image: Vec<ComputationId> = Vec::with_capacity(self.computations.len());
        for source in self.computations.values() {
            let mut written = source.clone();
            for instruction in written.instructions.values_mut() {
                if instruction.op.called_computations().iter().any(|callee| callee.index() >= image.len()) {
                    return Cow::Borrowed(self);
                }
                instruction.op.rename_computations(|callee| image[callee.index()]);
                let Op::AsyncShorthand { phase, async_execution_thread, output_to_operand_aliasing, .. } =
                    &mut instruction.op
                else {
                    continue;
                };
                let async_execution_thread = async_execution_thread.take();
                let output_to_operand_aliasing = std::mem::take(output_to_operand_aliasing);
                match phase {
                    AsyncPhase::Start => {
                        let Some(started) = started(source, instruction, &mut names) else {
                            return Cow::Borrowed(self);
                        };
                        let calls = computations.push(started);
                        instruction.op = Op::AsyncStart { async_execution_thread, output_to_operand_aliasing, calls };
                        instruction.attributes.retain(|attribute| !is_of_operation(&attribute.name));
                    }
                    AsyncPhase::Update => instruction.op = Op::AsyncUpdate { async_execution_thread, calls: None },
                    AsyncPhase::Done => instruction.op = Op::AsyncDone { async_execution_thread, calls: None },
                }
            }
            image.push(computations.push(written));
        }
        let Some(&entry) = image.get(self.entry.index()) else { return Cow::Borrowed(self) };
        Cow::Owned(Module { entry, computations, ..self.clone() })
    }
}

/// Where among others an instruction is begun.
const ORDER: &str = "control-predecessors";

/// Whether an attribute says something of what is started, rather than of where, or of where it comes from.
fn is_of_operation(name: &str) -> bool {
    !matches!(name, ORDER | "metadata")
}

/// The computation of what a start starts; `None` where its rules are broken.
fn started(source: &Computation, start: &Instruction, names: &mut UniqueNames) -> Option<Computation> {
    let Op::AsyncShorthand { wrapped, operation: Some(operation), .. } = &start.op else { return None };
    let Shape::Tuple(elements) = &start.shape else { return None };
    let result = elements.get(1)?.clone();
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut operands = Vec::with_capacity(start.operands.len());
    for (number, &operand) in start.operands.iter().enumerate() {
        let shape = source.instructions.get(operand)?.shape.clone();
        let parameter = Op::Parameter { number: number as i64 };
        let parameter = Instruction::new(format!("param_{number}"), shape, parameter, Vec::new());
        operands.push(instructions.push(Instruction { span: start.span, ..parameter }));
    }
    let root = Instruction::new(wrapped.name(), result, (**operation).clone(), operands);
    let attributes = start.attributes.iter().filter(|attribute| attribute.name != ORDER).cloned().collect();
    let root = instructions.push(Instruction { span: start.span, attributes, ..root });
    let mut computation = Computation::new(names.take(&format!("{wrapped}_of_{}", start.name)), instructions, root);
    computation.span = start.span;
    Some(computation)
}
