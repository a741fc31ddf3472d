//! Simplification of tuples that are made and taken apart again.

use super::pass::{Pass, Rewritten};
use super::rebuild::{Rewrite, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{Module, Op};

/// The element of a tuple just made is the operand it was made of, and a tuple of all elements of a value in order is that
/// value.
pub struct Tuples;

impl Pass for Tuples {
    fn name(&self) -> &'static str {
        "tuples"
    }

    fn about(&self) -> &'static str {
        "looks through tuples that are made and taken apart again"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::GetTupleElement { index } => {
                let operand = rebuild.get(*candidate.operands.first()?);
                let index = usize::try_from(*index).ok()?;
                match operand.op {
                    Op::Tuple => {
                        Some(("get-tuple-element(tuple(a, b), 0) = a", Rewrite::Value(operand.operands[index])))
                    }
                    _ => None,
                }
            }
            Op::Tuple => {
                let first = rebuild.get(*candidate.operands.first()?);
                let whole = *first.operands.first()?;
                let is_element = |(index, &operand): (i64, &_)| {
                    let element = rebuild.get(operand);
                    element.op == Op::GetTupleElement { index } && element.operands == [whole]
                };
                let is_whole = (0..).zip(&candidate.operands).all(is_element)
                    && rebuild.get(whole).shape.as_tuple()?.len() == candidate.operands.len();
                is_whole.then_some(("tuple(get-tuple-element(t, 0), …) = t", Rewrite::Value(whole)))
            }
            _ => None,
        }))
    }
}
