//! Functions whose results the entry stores as they are.

use crate::kernel::{Block, FunctionId, Kernel, Operand, Statement, ValueId};
use weft_hlo::ir::ArenaId;

/// For each function, if only the entry calls it, and only to store what it returns, the extents of the memory that its first
/// result goes to.
pub(super) fn outputs(kernel: &Kernel) -> Vec<Option<Vec<i64>>> {
    let mut outputs: Vec<Option<Vec<i64>>> = vec![None; kernel.functions.len()];
    let mut origins: Vec<Option<FunctionId>> = vec![None; kernel.entry.values.len()];
    let mut other = vec![false; kernel.functions.len()];
    for function in kernel.functions.values() {
        callees(&function.body, &mut other);
    }
    let mut scan = Scan { kernel, origins: &mut origins, outputs: &mut outputs, other: &mut other };
    scan.block(&kernel.entry.body);
    for (output, other) in outputs.iter_mut().zip(other) {
        if other {
            *output = None;
        }
    }
    outputs
}

fn callees(block: &Block, called: &mut [bool]) {
    for statement in &block.statements {
        if let Some(callee) = statement.callee() {
            called[callee.index()] = true;
        }
        statement.blocks().into_iter().for_each(|block| callees(block, called));
    }
}

struct Scan<'k, 's> {
    kernel: &'k Kernel,
    /// For each value of the entry the function that returned it.
    origins: &'s mut [Option<FunctionId>],
    outputs: &'s mut [Option<Vec<i64>>],
    /// Functions whose results are used in another way.
    other: &'s mut [bool],
}

impl Scan<'_, '_> {
    fn origin(&self, operand: Operand) -> Option<FunctionId> {
        match operand {
            Operand::Value(value) => self.origins[value.index()],
            Operand::Constant(_) => None,
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            match statement {
                Statement::Store { memory, value, .. } => {
                    if let Some(function) = self.origin(*value) {
                        let extents = || self.kernel.memories[*memory].shape.extents.clone();
                        self.outputs[function.index()].get_or_insert_with(extents);
                    }
                    continue;
                }
                Statement::Call { values, function, .. } => {
                    values.iter().for_each(|value: &ValueId| self.origins[value.index()] = Some(*function));
                }
                _ => {}
            }
            for operand in statement.operands() {
                self.computed_with(operand);
            }
            statement.blocks().into_iter().for_each(|block| self.block(block));
        }
        block.results.iter().for_each(|result| self.computed_with(*result));
    }

    fn computed_with(&mut self, operand: Operand) {
        if let Some(function) = self.origin(operand) {
            self.other[function.index()] = true;
        }
    }
}
