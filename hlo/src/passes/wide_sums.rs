//! Sums and products of narrow floats, accumulated in `f32`.

use super::build::{Build, Callee};
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{
    Arena, BinaryOp, Computation, ComputationId, ElementType, FloatFormat, Instruction, Module, Op, Shape,
};

/// Replaces a `reduce` or `reduce-window` that adds or multiplies floats of at most 16 bits by one of `f32`, whose result is rounded once.
///
/// HLO leaves the order of such a reduction open; with the intermediate results in `f32` it hardly matters any more. The results are
/// nearer to the exact ones, so they are not those of [`evaluate`](crate::eval::evaluate), which rounds each sum. Reductions of several
/// arrays stay as they are.
pub struct WideSums;

impl Pass for WideSums {
    fn name(&self) -> &'static str {
        "widen-sums"
    }

    fn about(&self) -> &'static str {
        "accumulates sums and products of narrow floats in f32"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut widened))
    }
}

/// The sum or product of narrow floats that an instruction reduces one array to.
pub(super) fn narrow_fold(
    computations: &Arena<ComputationId, Computation>,
    candidate: &Instruction,
) -> Option<BinaryOp> {
    let (Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. }) = &candidate.op else { return None };
    let array = candidate.shape.as_array()?;
    FloatFormat::of(array.element_type).and_then(|_| folded(&computations[*to_apply]))
}

fn widened(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let op = narrow_fold(rebuild.computations(), candidate)?;
    let [input, initial] = candidate.operands[..] else { return None };
    let array = candidate.shape.as_array().filter(|array| array.dynamic.is_empty())?;
    let mut callee = Callee::new("wide", rebuild.span());
    let [accumulator, element] = [(); 2].map(|()| callee.parameter(Shape::scalar(ElementType::F32)));
    let root = callee.binary(op, accumulator, element);
    let to_apply = rebuild.shared_computation(callee.finish(root));
    let operands = [input, initial].map(|operand| rebuild.converted(operand, ElementType::F32));
    let op = match candidate.op.clone() {
        Op::Reduce { dimensions, .. } => Op::Reduce { dimensions, to_apply },
        Op::ReduceWindow { window, .. } => Op::ReduceWindow { window, to_apply },
        _ => return None,
    };
    let wide = rebuild.add(Shape::array(ElementType::F32, array.extents.clone()), op, operands.to_vec());
    Some(("sums of narrow floats are accumulated in f32", Rewrite::Op(Op::Convert, vec![wide])))
}

/// The sum or product of its two parameters that a computation is.
fn folded(region: &Computation) -> Option<BinaryOp> {
    let root = &region.instructions[region.root];
    let (Op::Binary(op @ (BinaryOp::Add | BinaryOp::Multiply)), [left, right]) = (&root.op, &root.operands[..]) else {
        return None;
    };
    let is_parameter = |id| matches!(region.instructions[id].op, Op::Parameter { .. });
    (left != right && is_parameter(*left) && is_parameter(*right)).then_some(*op)
}
