//! Values that every round of a loop computes alike.

use crate::kernel::{Block, Kernel, Operand, ScalarOp, Statement, ValueId};
use std::collections::HashSet;
use weft_affine::Var;

/// Moves what does not depend on a loop before it; `loops` is how many loop variables are in sight.
pub(super) fn hoist(kernel: &Kernel, block: &mut Block, loops: usize) {
    let mut statements = Vec::with_capacity(block.statements.len());
    for mut statement in std::mem::take(&mut block.statements) {
        let inner = match &statement {
            Statement::Loop { extents, .. } => loops + extents.len(),
            _ => loops,
        };
        statement.blocks_mut().into_iter().for_each(|block| hoist(kernel, block, inner));
        if let Statement::Loop { extents, accumulators, body, .. } = &mut statement
            && extents.iter().all(|extent| *extent > 0)
        {
            let changed = accumulators.iter().copied().collect();
            let has_effects = body.statements.iter().any(Statement::has_effects);
            let mut round = Round { kernel, loops, has_effects, changed, bound: HashSet::new() };
            let (stay, before) =
                std::mem::take(&mut body.statements).into_iter().partition(|statement| round.stays(statement));
            body.statements = stay;
            let before: Vec<Statement> = before;
            statements.extend(before);
        }
        statements.push(statement);
    }
    block.statements = statements;
}

/// What is known of the rounds of a loop, statement by statement.
struct Round<'k> {
    kernel: &'k Kernel,
    /// Loop variables around the loop.
    loops: usize,
    /// Whether a round changes memories, or waits for others to.
    has_effects: bool,
    /// Values that may differ from round to round, and runtime variables.
    changed: HashSet<ValueId>,
    bound: HashSet<u32>,
}

impl Round<'_> {
    fn stays(&mut self, statement: &Statement) -> bool {
        let stays = !self.is_movable(statement) || !self.is_alike(statement);
        if stays {
            self.changed.extend(statement.defines());
            match statement {
                Statement::Bind { binding, .. } => self.bound.extend([binding.variable]),
                Statement::Name { variable, .. } => self.bound.extend([*variable]),
                _ => {}
            }
        }
        stays
    }

    fn is_movable(&self, statement: &Statement) -> bool {
        match statement {
            Statement::Let { op: ScalarOp::Extract { memory, .. }, .. } => {
                !self.has_effects || !self.kernel.may_change(*memory)
            }
            Statement::Call { .. } => !self.has_effects,
            Statement::Let { .. } | Statement::Bind { .. } | Statement::Name { .. } => true,
            _ => false,
        }
    }

    fn is_alike(&self, statement: &Statement) -> bool {
        let operand = |operand: &Operand| match operand {
            Operand::Value(value) => !self.changed.contains(value),
            Operand::Constant(_) => true,
        };
        let differs = |variable: Var| match variable {
            Var::Dim(_) => false,
            Var::Range(number) => number as usize >= self.loops,
            Var::Runtime(number) => self.bound.contains(&number),
        };
        statement.operands().iter().all(operand)
            && !statement.indices().into_iter().any(|index| index.find_variable(&mut |variable| differs(variable)))
    }
}
