//! What follows from indices and values that have become known.

use super::copy::rename;
use crate::kernel::{Block, Condition, Function, Known, Operand, ScalarOp, Statement, ValueId};
use std::collections::HashMap;
use weft_affine::{Atom, Expr};

/// Simplifies the indices of a function by what is known where they stand, and puts the block that a condition chooses in place of the
/// condition where it is known to hold, or never to. A lane of a constant is the constant.
pub(super) fn settle(function: &mut Function) {
    let mut known = Known::new(&function.extents);
    Pass { known: HashMap::new() }.block(&mut function.body, &mut known);
}

struct Pass {
    /// What values are whose statements are gone.
    known: HashMap<ValueId, Operand>,
}

impl Pass {
    /// Statements in order; what they bind is known from there on.
    fn block(&mut self, block: &mut Block, known: &mut Known) {
        let mut statements = Vec::with_capacity(block.statements.len());
        for statement in std::mem::take(&mut block.statements) {
            self.statement(statement, known, &mut statements);
        }
        block.statements = statements;
        block.results.iter_mut().for_each(|result| rename(result, &self.known));
    }

    fn statement(&mut self, mut statement: Statement, known: &mut Known, out: &mut Vec<Statement>) {
        statement.operands_mut().into_iter().for_each(|operand| rename(operand, &self.known));
        for index in statement.indices_mut().into_iter().filter(|index| divides(index)) {
            *index = known.simplified(index);
        }
        match &mut statement {
            Statement::Let { value, op: ScalarOp::Lane { operand: constant @ Operand::Constant(_), .. } } => {
                self.known.insert(*value, *constant);
                return;
            }
            Statement::If { values, condition: Condition::Indices(tests), then, otherwise } => {
                let open = known.open(tests);
                let never = open.iter().any(|test| test.bounds.is_empty());
                if never || open.is_empty() {
                    let mut chosen = std::mem::take(if never { otherwise } else { then });
                    self.block(&mut chosen, known);
                    out.extend(chosen.statements);
                    self.known.extend(values.iter().copied().zip(chosen.results));
                    return;
                }
                *tests = open;
            }
            _ => {}
        }
        let blocks = known.within(&statement);
        let blocks = statement.blocks_mut().into_iter().zip(blocks);
        blocks.for_each(|(block, mut known)| self.block(block, &mut known));
        known.after(&statement);
        out.push(statement);
    }
}

/// Whether there is anything to simplify: sums are in their canonical form as they are made.
fn divides(index: &Expr) -> bool {
    index.terms().iter().any(|term| !matches!(term.atom, Atom::Var(_)))
}
