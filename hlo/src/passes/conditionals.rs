//! Choices that are made already.

use super::pass::{Pass, Rewritten};
use super::rebuild::{Rewrite, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{Module, Op, Scalar};

/// A conditional whose choice is a constant, or that has one branch, is a call of the branch taken.
pub struct Conditionals;

impl Pass for Conditionals {
    fn name(&self) -> &'static str {
        "conditionals"
    }

    fn about(&self) -> &'static str {
        "takes the branch that a constant chooses"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| {
            let Op::Conditional { branches, .. } = &candidate.op else { return None };
            let choice = match &rebuild.get(candidate.operands[0]).op {
                Op::Constant(literal) => literal.data.get(0),
                _ => None,
            };
            // The first of two branches is for true; a number that is not one of a branch takes the last.
            let taken = match choice {
                _ if branches.len() == 1 => 0,
                Some(Scalar::Pred(chosen)) => usize::from(!chosen),
                Some(Scalar::S32(number)) => usize::try_from(number).unwrap_or(usize::MAX).min(branches.len() - 1),
                _ => return None,
            };
            let call = Op::Call { to_apply: branches[taken] };
            Some(("conditional(constant, …) calls one branch", Rewrite::Op(call, vec![candidate.operands[taken + 1]])))
        }))
    }
}
