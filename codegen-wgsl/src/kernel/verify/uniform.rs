//! Whether all invocations of a workgroup come to every barrier and collective.

use super::Findings;
use crate::kernel::{Block, Combination, Kernel, Operand, ScalarOp, Scope, Space, Statement, ValueId};
use weft_affine::{Expr, Var};
use weft_hlo::ir::ArenaId;

/// Finds barriers and collectives under conditions that may differ among the invocations of a workgroup.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings) {
    let thread = u32::try_from(kernel.entry.extents.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let mut pass = Uniformity { kernel, thread, uniform: Vec::new(), bound: Vec::new(), is_tried: false, findings };
    pass.uniform = vec![false; kernel.entry.values.len()];
    pass.block(&kernel.entry.body, true);
}

struct Uniformity<'k, 'f> {
    kernel: &'k Kernel,
    /// The index variable that numbers the invocations of a workgroup.
    thread: u32,
    /// For each value whether it is the same in all invocations of a workgroup.
    uniform: Vec<bool>,
    /// Runtime variables that are.
    bound: Vec<u32>,
    /// Whether it is only tried what would be the same.
    is_tried: bool,
    findings: &'f mut Findings,
}

impl Uniformity<'_, '_> {
    fn operand(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Value(value) => self.uniform[value.index()],
            Operand::Constant(_) => true,
        }
    }

    fn index(&self, index: &Expr) -> bool {
        index.variables().iter().all(|variable| match variable {
            Var::Dim(dimension) => *dimension != self.thread,
            Var::Range(_) => true,
            Var::Runtime(number) => self.bound.contains(number),
        })
    }

    /// `reached`: by all invocations or by none.
    fn block(&mut self, block: &Block, reached: bool) {
        for statement in &block.statements {
            self.statement(statement, reached);
        }
    }

    fn statement(&mut self, statement: &Statement, reached: bool) {
        let same = statement.operands().iter().all(|operand| self.operand(operand))
            && statement.indices().into_iter().all(|index| self.index(index));
        match statement {
            Statement::Let { value, op } => {
                // What a workgroup or an invocation writes may have changed for one of two readers.
                let settled = match op {
                    ScalarOp::Extract { memory, .. } => {
                        matches!(self.kernel.memories[*memory].space, Space::Buffer { .. })
                            && !self.kernel.may_change(*memory)
                    }
                    ScalarOp::Member { .. } if !reached => {
                        self.find("a value of another invocation is asked for where not all invocations come");
                        false
                    }
                    _ => true,
                };
                self.uniform[value.index()] = same && settled && reached;
            }
            Statement::Call { values, .. } => {
                // A function may have loops, too.
                let uniform = same && reached && !self.kernel.rolled;
                values.iter().for_each(|value| self.uniform[value.index()] = uniform);
            }
            Statement::If { values, condition, then, otherwise } => {
                if same && reached {
                    self.bound.extend(condition.bindings().iter().map(|binding| binding.variable));
                }
                self.block(then, reached && same);
                self.block(otherwise, reached && same);
                for (position, value) in values.iter().enumerate() {
                    let yielded = [then, otherwise].map(|block| block.results.get(position));
                    let both = yielded.into_iter().flatten().all(|result| self.operand(result));
                    self.uniform[value.index()] = same && reached && both;
                }
            }
            // A carried value is taken to differ, unless a collective makes it.
            Statement::Loop { body, .. } => {
                let one_by_one = self.kernel.rolled && !Kernel::is_together(body);
                self.block(body, reached && !one_by_one);
            }
            Statement::While { values, init, accumulators, condition, body } => {
                // What is carried is the same in all if it is at first, and if each round makes it so then.
                for (accumulator, init) in accumulators.iter().zip(init) {
                    self.uniform[accumulator.index()] = reached && self.operand(init);
                }
                let outside = std::mem::replace(&mut self.is_tried, true);
                let bound = self.bound.len();
                loop {
                    let holds = self.rounds(condition, body, reached);
                    self.bound.truncate(bound);
                    let differs = |(accumulator, result): &(&ValueId, &Operand)| {
                        self.uniform[accumulator.index()] && !(holds && self.operand(result))
                    };
                    let differing: Vec<ValueId> =
                        accumulators.iter().zip(&body.results).filter(differs).map(|(value, _)| *value).collect();
                    if differing.is_empty() {
                        break;
                    }
                    differing.iter().for_each(|value| self.uniform[value.index()] = false);
                }
                self.is_tried = outside;
                let holds = self.rounds(condition, body, reached);
                for (value, accumulator) in values.iter().zip(accumulators) {
                    self.uniform[value.index()] = holds && self.uniform[accumulator.index()];
                }
            }
            Statement::Bind { binding, .. } => {
                if same && reached {
                    self.bound.push(binding.variable);
                }
            }
            Statement::Name { variable, .. } => {
                if same && reached {
                    self.bound.push(*variable);
                }
            }
            Statement::Collective { values, scope, combination, .. } => {
                if !reached {
                    self.find("a collective stands where not all invocations come");
                }
                let is_whole = matches!(combination, Combination::Reduce | Combination::Combine);
                let whole = *scope == Scope::Workgroup && is_whole;
                values.iter().for_each(|value| self.uniform[value.index()] = whole && reached);
            }
            Statement::Share { value, .. } => {
                if !reached {
                    self.find("a shared read stands where not all invocations come");
                } else if !same {
                    self.find("a shared read is not of the same element in all invocations");
                }
                self.uniform[value.index()] = same && reached;
            }
            Statement::Matrix(_) if !reached => self.find("a matrix is touched where not all invocations come"),
            Statement::Matrix(_) => {}
            Statement::Barrier if !reached => self.find("a barrier stands where not all invocations come"),
            Statement::Barrier | Statement::Store { .. } | Statement::Merge { .. } | Statement::Update { .. } => {}
        }
    }

    /// A round; whether all invocations agree that there is another, and so come to the condition again.
    fn rounds(&mut self, condition: &Block, body: &Block, reached: bool) -> bool {
        let outside = std::mem::replace(&mut self.is_tried, true);
        let bound = self.bound.len();
        self.block(condition, reached);
        self.bound.truncate(bound);
        self.is_tried = outside;
        let holds = reached && condition.results.iter().all(|result| self.operand(result));
        self.block(condition, holds);
        self.block(body, holds);
        holds
    }

    fn find(&mut self, message: &str) {
        if !self.is_tried {
            self.findings.add("entry", message);
        }
    }
}
