//! Expansion of dots whose operands are cut into groups or scaled.

mod ragged;
mod scaled;

use super::pass::{Pass, Rewritten};
use super::rebuild::rewrite_module;
use crate::diagnostic::Diagnostics;
use crate::ir::{Module, Op};

/// Replaces `ragged-dot` by one dot for each group in a loop, and `scaled-dot` by a dot of the scaled operands, for what runs
/// programs without such operations.
///
/// - Where a free dimension of the left operand is cut, each round computes the products of all its rows with one entry of the
///   right operand and keeps those of the group; where a contracting dimension is, what belongs to other groups is 0 in both
///   operands. So the work is as many times that of a dot as there are groups, and memory that of the operands and the result.
/// - Scales are multiplied in as `f32`, or as `f64` where an operand or its scale is.
///
/// Sums are those of the operations, of floats narrower than `f32` in `f32`.
pub struct OtherDots;

impl Pass for OtherDots {
    fn name(&self) -> &'static str {
        "expand-dots"
    }

    fn about(&self) -> &'static str {
        "writes ragged-dot and scaled-dot out as dots"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match candidate.op {
            Op::RaggedDot { .. } => ragged::expand(rebuild, candidate),
            Op::ScaledDot { .. } => scaled::expand(rebuild, candidate),
            _ => None,
        }))
    }
}
