//! Algebraic simplification: identities of arithmetic and chains of data movement.
//!
//! Each rule is an equation that holds for every value in every type it is applied to, NaNs, infinities and zeros of both
//! signs included, bit for bit. Only this is taken as understood: an operation that gives a NaN for a quiet NaN gives that
//! NaN. Where an operation has two NaNs to choose from, no rule changes which of them it sees first.
//!
//! No two rules fight. Each makes the module less by the first of these measures that it changes: reductions and dynamic
//! slices; elements that operations read; operations on values that are not constants, along the longest path to an
//! instruction; the weight of an operation, where a reshape weighs less than a broadcast and a broadcast less than a
//! transpose, a slice or a pad; constants to the left of what is no constant. One sweep takes time linear in the module.
//!
//! Nothing looks through an `opt-barrier`, and values with dynamic extents stay as they are.

mod arithmetic;
mod broadcast;
mod choice;
mod concatenate;
mod conversion;
mod extents;
mod filled;
mod iota;
mod laws;
mod number;
mod pad;
mod range;
mod reduction;
mod relation;
mod reshape;
mod slice;
mod unary;
mod variadic;

use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArrayShape, InstrId, Instruction, Module, Op};
pub(super) use reduction::{Region, region};

/// Replaces what is computed by something simpler with the same value: `x * 1` by `x`, a reshape of a reshape by one
/// reshape, a slice of a broadcast by a smaller broadcast.
pub struct AlgebraicSimplification;

/// What one sweep adds is looked at by the next; the pipeline runs the pass again where these do not suffice.
const MAX_SWEEPS: usize = 4;

impl Pass for AlgebraicSimplification {
    fn name(&self) -> &'static str {
        "algebraic-simplification"
    }

    fn about(&self) -> &'static str {
        "replaces operations by simpler ones with the same value"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        let mut rewritten = rewrite_module(module, &mut simplify);
        let mut is_changed = !rewritten.changes.is_empty();
        for _ in 1..MAX_SWEEPS {
            if !is_changed {
                break;
            }
            let next = rewrite_module(&rewritten.module, &mut simplify);
            is_changed = !next.changes.is_empty();
            rewritten.module = next.module;
            rewritten.changes.extend(next.changes);
        }
        Ok(rewritten)
    }
}

fn simplify(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let is_static = |shape: &ArrayShape| shape.dynamic.is_empty();
    let operands_are_static = || candidate.operands.iter().all(|&id| array(rebuild, id).is_none_or(is_static));
    if !candidate.shape.is_static() || !operands_are_static() {
        return None;
    }
    if candidate.shape.as_array().is_none() {
        return variadic::reduce(rebuild, candidate);
    }
    if let Some(rule) = filled::empty(rebuild, candidate) {
        return Some(rule);
    }
    let rule = match &candidate.op {
        Op::Constant(literal) => filled::constant(rebuild, candidate, literal),
        Op::Unary(op) => unary::unary(rebuild, candidate, *op),
        Op::Binary(op) => arithmetic::binary(rebuild, candidate, *op),
        Op::Compare { direction, order } => relation::compare(rebuild, candidate, *direction, *order),
        Op::Select => choice::select(rebuild, candidate),
        Op::Clamp => choice::clamp(rebuild, candidate),
        Op::Convert => conversion::convert(rebuild, candidate),
        Op::BitcastConvert => conversion::bitcast_convert(rebuild, candidate),
        Op::ReducePrecision { exponent_bits, mantissa_bits } => {
            conversion::reduce_precision(rebuild, candidate, (*exponent_bits, *mantissa_bits))
        }
        Op::Complex => unary::complex(rebuild, candidate),
        Op::Real => unary::part(rebuild, candidate, 0),
        Op::Imag => unary::part(rebuild, candidate, 1),
        Op::Iota { dimension } => iota::iota(rebuild, candidate, *dimension),
        Op::Broadcast { dimensions } => broadcast::broadcast(rebuild, candidate, dimensions),
        Op::Reshape => reshape::reshape(rebuild, candidate),
        Op::Bitcast => reshape::bitcast(rebuild, candidate),
        Op::Copy => reshape::copy(rebuild, candidate),
        Op::Transpose { permutation } => reshape::transpose(rebuild, candidate, permutation),
        Op::Slice { dimensions } => slice::slice(rebuild, candidate, dimensions),
        Op::DynamicSlice { .. } => slice::dynamic_slice(rebuild, candidate),
        Op::DynamicUpdateSlice => slice::dynamic_update_slice(rebuild, candidate),
        Op::Reverse { dimensions } => reshape::reverse(rebuild, candidate, dimensions),
        Op::Concatenate { dimension } => concatenate::concatenate(rebuild, candidate, *dimension),
        Op::Pad { padding } => pad::pad(rebuild, candidate, padding),
        Op::Reduce { dimensions, to_apply } => reduction::reduce(rebuild, candidate, dimensions, *to_apply),
        _ => None,
    };
    rule.or_else(|| broadcast::elementwise(rebuild, candidate))
}

/// The array that an instruction made already is.
fn array<'r>(rebuild: &'r Rebuild<'_>, id: InstrId) -> Option<&'r ArrayShape> {
    rebuild.get(id).shape.as_array()
}

/// The extents of an array made already.
fn extents(rebuild: &Rebuild<'_>, id: InstrId) -> Option<Vec<i64>> {
    Some(array(rebuild, id)?.extents.clone())
}
