//! Inlining of calls.

use super::pass::{Change, Pass, Rewritten};
use super::side_effects::pinned;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Arena, ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape, UniqueNames};

/// Puts the instructions of the computation that a `call` names in its place. Fusions stay, and so do calls of computations
/// with an `async-start`: what it starts belongs to it alone, so there cannot be a second of it.
pub struct InlineCalls;

/// Instructions a computation may come to: calls of calls of calls can double at every level.
const MAX_INSTRUCTIONS: usize = 4_000_000;

impl Pass for InlineCalls {
    fn name(&self) -> &'static str {
        "inline-calls"
    }

    fn about(&self) -> &'static str {
        "puts what a call calls in its place"
    }

    /// # Errors
    /// `HLO310` if that makes more than 4,000,000 instructions.
    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        let mut inlined: Arena<ComputationId, Computation> = Arena::new();
        let mut changes = Vec::new();
        // Whether each computation has an `async-start`; what is inlined into it has none.
        let mut starts: Vec<bool> = Vec::new();
        for computation in module.computations.values() {
            let pinned = pinned(computation);
            starts.push(computation.instructions.values().any(|it| matches!(it.op, Op::AsyncStart { .. })));
            let calls = |id: InstrId| match computation.instructions[id].op {
                Op::Call { to_apply } if !pinned.contains(&id) && !starts[to_apply.index()] => Some(to_apply),
                _ => None,
            };
            if !computation.instructions.ids().any(|id| calls(id).is_some()) {
                inlined.push(computation.clone());
                continue;
            }
            let mut body = Body::new(computation);
            for (id, instruction) in computation.instructions.iter() {
                let mut moved = instruction.clone();
                moved.operands.iter_mut().for_each(|operand| *operand = body.image[operand.index()]);
                let value = match calls(id) {
                    Some(callee) => {
                        let place = format!("{}/{}", computation.name, instruction.name);
                        changes.push(Change { rule: "a call is what it calls", place });
                        body.inline(&inlined[callee], &moved)
                    }
                    None => body.made.push(moved),
                };
                body.image.push(value);
                if body.made.len() > MAX_INSTRUCTIONS {
                    let message = format!("inlining calls makes more than {MAX_INSTRUCTIONS} instructions");
                    return Err(Diagnostic::new("HLO310", computation.span, message).about(&computation.name).into());
                }
            }
            let root = body.image[computation.root.index()];
            inlined.push(Computation { instructions: body.made, root, ..computation.clone() });
        }
        Ok(Rewritten { module: Module { computations: inlined, ..module.clone() }, changes })
    }
}

/// A computation while calls are inlined into it.
struct Body {
    made: Arena<InstrId, Instruction>,
    /// Where the values of the computation's own instructions are.
    image: Vec<InstrId>,
    names: UniqueNames,
}

impl Body {
    fn new(computation: &Computation) -> Self {
        let mut names = UniqueNames::default();
        for instruction in computation.instructions.values() {
            names.take(&instruction.name);
        }
        Body { made: Arena::new(), image: Vec::with_capacity(computation.instructions.len()), names }
    }

    /// The value of `callee` for the operands of `call`.
    fn inline(&mut self, callee: &Computation, call: &Instruction) -> InstrId {
        let mut image: Vec<InstrId> = Vec::with_capacity(callee.instructions.len());
        for instruction in callee.instructions.values() {
            let value = match instruction.op {
                Op::Parameter { number } => {
                    let number = usize::try_from(number).expect("parameters are numbered from 0");
                    self.laid_out(call.operands[number], &instruction.shape, call)
                }
                _ => {
                    let mut copy = instruction.clone();
                    copy.name = self.names.take(&copy.name);
                    copy.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
                    self.made.push(copy)
                }
            };
            image.push(value);
        }
        self.laid_out(image[callee.root.index()], &call.shape, call)
    }

    /// The value in the layouts of `shape`, copied where it has others: of a caller and its callee each may have its own.
    fn laid_out(&mut self, value: InstrId, shape: &Shape, call: &Instruction) -> InstrId {
        if same_layouts(&self.made[value].shape, shape) {
            return value;
        }
        let name = self.names.take(&call.name);
        let mut copy = Instruction::new(name, shape.clone(), Op::Copy, vec![value]);
        copy.span = call.span;
        self.made.push(copy)
    }
}

/// Whether elements lie in the same order in memory: of shapes that are the same but for layouts.
pub(super) fn same_layouts(given: &Shape, wanted: &Shape) -> bool {
    given.leaves().into_iter().zip(wanted.leaves()).all(|leaves| match leaves {
        (Shape::Array(given), Shape::Array(wanted)) => given.minor_to_major() == wanted.minor_to_major(),
        _ => true,
    })
}
