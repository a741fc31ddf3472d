//! Which values are written where they are used.
//!
//! A matter of print alone: a value has its text moved to its one use, in the same block and thus done as often, and never across a
//! statement that changes a memory or waits; all that is moved is pure, so neither what is computed nor its order of effects changes.

use crate::kernel::{Block, Condition, Function, Hiding, Operand, ScalarOp, Statement, ValueId};
use std::collections::BTreeSet;
use weft_hlo::ir::ArenaId;

/// For each value whether its expression stands in place of its name: elements of tensors and of other functions that
/// are used once, in the block that reads them, what is hidden where it is used or right after it is computed, and values whose
/// one use is as a result of their block. What an instruction computes keeps
/// the instruction's name, so the text can be read beside the HLO.
pub(super) fn inlined(function: &Function) -> Vec<bool> {
    let mut uses = vec![0usize; function.values.len()];
    let mut bare = vec![false; function.values.len()];
    count(&function.body, &mut uses, &mut bare);
    let mut inlined = vec![false; function.values.len()];
    mark(&function.body, &uses, &bare, &mut inlined);
    inlined
}

/// Whether the operation is no instruction's, whose name would be kept.
fn is_unnamed(op: &ScalarOp) -> bool {
    match op {
        ScalarOp::Extract { .. } => true,
        ScalarOp::Keep { operand, hiding } => *hiding != Hiding::Value || value(operand).is_none(),
        _ => false,
    }
}

fn value(operand: &Operand) -> Option<ValueId> {
    match operand {
        Operand::Value(value) => Some(*value),
        Operand::Constant(_) => None,
    }
}

/// Counts uses, and marks what is hidden where it is computed.
fn count(block: &Block, uses: &mut [usize], bare: &mut [bool]) {
    let mut used = |operand: &Operand| {
        if let Some(value) = value(operand) {
            uses[value.index()] += 1;
        }
    };
    block.results.iter().for_each(&mut used);
    for statement in &block.statements {
        statement.operands().iter().for_each(&mut used);
        // What is tested against bounds stands in each of the tests, and what is within them is bound to it.
        if let Statement::If { condition: Condition::InBounds(bindings), .. } = statement {
            bindings.iter().for_each(|binding| used(&binding.value));
        }
        if let Statement::Let { op: ScalarOp::Keep { operand: Operand::Value(kept), hiding: Hiding::Value }, .. } =
            statement
        {
            bare[kept.index()] = true;
        }
    }
    for block in block.statements.iter().flat_map(Statement::blocks) {
        count(block, uses, bare);
    }
}

fn mark(block: &Block, uses: &[usize], bare: &[bool], inlined: &mut [bool]) {
    // Elements read or called for in this block, to be inlined if their one use is in this block as well, and no memory has
    // changed until then.
    let mut elements: BTreeSet<ValueId> = BTreeSet::new();
    for statement in &block.statements {
        for used in statement.operands().iter().filter_map(value) {
            inlined[used.index()] |= elements.remove(&used);
        }
        if statement.has_effects() {
            elements.clear();
        }
        match statement {
            Statement::Let { value, op } if uses[value.index()] == 1 && (is_unnamed(op) || bare[value.index()]) => {
                elements.insert(*value);
            }
            Statement::Call { values, .. } => {
                if let [called] = values.as_slice()
                    && uses[called.index()] == 1
                {
                    elements.insert(*called);
                }
            }
            _ => statement.blocks().into_iter().for_each(|block| mark(block, uses, bare, inlined)),
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
