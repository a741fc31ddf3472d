//! Expansion of dots whose operands are cut into groups or scaled.

mod ragged;
mod scaled;
mod slots;

use super::pass::{Pass, Rewritten};
use super::rebuild::rewrite_module;
use crate::diagnostic::Diagnostics;
use crate::ir::{Module, Op};

/// Replaces `ragged-dot` by dots of the tiles of its groups, and `scaled-dot` by a dot of the scaled operands, for what runs
/// programs without such operations.
///
/// - Where a free dimension of the left operand is cut, it is cut into tiles of up to 128 rows, and a batch of dots multiplies a tile by
///   the entry of each group that it has rows of. The work is that of one dot of all rows and of less than a tile for each group. If the
///   sizes of groups depend on other dimensions, a round of a loop for each group multiplies all rows.
/// - Where a contracting dimension is cut, a round of a loop adds the products of a tile to the sums of one group, where what belongs to other groups is 0 in both
///   operands; the work is that of one dot and of less than a tile for each group, or of one dot for each group if their sizes depend on other dimensions.
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
