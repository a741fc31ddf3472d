//! Which values are written where they are used.

use crate::kernel::{Block, Function, Operand, ScalarOp, Statement, ValueId};
use weft_hlo::ir::ArenaId;

/// For each value whether its expression stands in place of its name: elements of tensors and of other functions that
/// are used once, in the block that reads them, and values whose one use is as a result of their block. What an instruction computes keeps
/// the instruction's name, so the text can be read beside the HLO.
pub(super) fn inlined(function: &Function) -> Vec<bool> {
    let mut uses = vec![0usize; function.values.len()];
    count(&function.body, &mut uses);
    let mut inlined = vec![false; function.values.len()];
    mark(&function.body, &uses, &mut inlined);
    inlined
}

fn value(operand: &Operand) -> Option<ValueId> {
    match operand {
        Operand::Value(value) => Some(*value),
        Operand::Constant(_) => None,
    }
}

fn count(block: &Block, uses: &mut [usize]) {
    let mut used = |operand: &Operand| {
        if let Some(value) = value(operand) {
            uses[value.index()] += 1;
        }
    };
    block.results.iter().for_each(&mut used);
    for statement in &block.statements {
        match statement {
            Statement::Let { op, .. } => op.operands().iter().for_each(&mut used),
            Statement::Loop { init, .. } => init.iter().for_each(&mut used),
            Statement::Call { .. } | Statement::If { .. } => {}
        }
    }
    for statement in &block.statements {
        match statement {
            Statement::If { then, otherwise, .. } => {
                count(then, uses);
                count(otherwise, uses);
            }
            Statement::Loop { body, .. } => count(body, uses),
            Statement::Let { .. } | Statement::Call { .. } => {}
        }
    }
}

fn mark(block: &Block, uses: &[usize], inlined: &mut [bool]) {
    // Elements read or called for in this block, to be inlined if their one use is in this block as well.
    let mut elements: Vec<ValueId> = Vec::new();
    for statement in &block.statements {
        match statement {
            Statement::Let { value: defined, op } => {
                for used in op.operands().iter().filter_map(value) {
                    inlined[used.index()] |= elements.contains(&used);
                }
                if matches!(op, ScalarOp::Extract { .. }) && uses[defined.index()] == 1 {
                    elements.push(*defined);
                }
            }
            Statement::If { then, otherwise, .. } => {
                mark(then, uses, inlined);
                mark(otherwise, uses, inlined);
            }
            Statement::Loop { body, init, .. } => {
                for used in init.iter().filter_map(value) {
                    inlined[used.index()] |= elements.contains(&used);
                }
                mark(body, uses, inlined);
            }
            Statement::Call { values, .. } => {
                if let [called] = values.as_slice()
                    && uses[called.index()] == 1
                {
                    elements.push(*called);
                }
            }
        }
    }
    // A single result may be computed where it is yielded; with several, one could overwrite what another reads.
    if let [result] = block.results.as_slice()
        && let Some(used) = value(result)
        && uses[used.index()] == 1
        && block.statements.iter().any(|statement| match statement {
            Statement::Let { value, .. } => *value == used,
            Statement::Call { values, .. } => *values == [used],
            _ => false,
        })
    {
        inlined[used.index()] = true;
    }
}
