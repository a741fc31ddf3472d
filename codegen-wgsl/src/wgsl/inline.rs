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
        statement.operands().iter().for_each(&mut used);
    }
    for block in block.statements.iter().flat_map(Statement::blocks) {
        count(block, uses);
    }
}

/// Whether a statement, or one within it, changes a memory or waits for others to.
fn has_effects(statement: &Statement) -> bool {
    let own = matches!(
        statement,
        Statement::Store { .. } | Statement::Update { .. } | Statement::Collective { .. } | Statement::Barrier
    );
    own || statement.blocks().into_iter().any(|block| block.statements.iter().any(has_effects))
}

fn mark(block: &Block, uses: &[usize], inlined: &mut [bool]) {
    // Elements read or called for in this block, to be inlined if their one use is in this block as well, and no memory has
    // changed until then.
    let mut elements: Vec<ValueId> = Vec::new();
    for statement in &block.statements {
        for used in statement.operands().iter().filter_map(value) {
            inlined[used.index()] |= elements.contains(&used);
        }
        if has_effects(statement) {
            elements.clear();
        }
        match statement {
            Statement::Let { value, op: ScalarOp::Extract { .. } } if uses[value.index()] == 1 => elements.push(*value),
            Statement::Call { values, .. } => {
                if let [called] = values.as_slice()
                    && uses[called.index()] == 1
                {
                    elements.push(*called);
                }
            }
            _ => statement.blocks().into_iter().for_each(|block| mark(block, uses, inlined)),
        }
    }
    // A single result may be computed where it is yielded; with several, one could overwrite what another reads.
    if let [result] = block.results.as_slice()
        && let Some(used) = value(result)
        && uses[used.index()] == 1
        && block.statements.last().is_some_and(|statement| match statement {
            Statement::Let { value, .. } => *value == used,
            Statement::Call { values, .. } => *values == [used],
            _ => false,
        })
    {
        inlined[used.index()] = true;
    }
}
