//! Choices between computations.

use super::body::{Body, ComputationKind};
use crate::ir::{ComputationId, ElementType, InstrId, Op, Shape};

/// By `pred` between two, or by number between some.
pub(super) fn conditional(body: &mut Body<'_>) -> Option<InstrId> {
    let indexed = body.world.rng.chance(50);
    let count = if indexed { 1 + body.world.rng.below(4) } else { 2 };
    let chooser = body.operand(if indexed { ElementType::S32 } else { ElementType::Pred }, &[]);
    let mut operands = vec![chooser];
    let mut branches: Vec<ComputationId> = Vec::with_capacity(count);
    let (mut result, mut last) = (None, None);
    for _ in 0..count {
        if let (Some(&branch), Some(taken)) = (branches.last(), &last)
            && body.world.rng.chance(10)
        {
            operands.push(body.value(taken));
            branches.push(branch);
            continue;
        }
        let taken = body.any_shape()?;
        operands.push(body.value(&taken));
        branches.push(branch(body, &taken, &mut result));
        last = Some(taken);
    }
    Some(body.push(Op::Conditional { branches, indexed }, operands, result?))
}

/// A branch that yields what the first one does.
fn branch(body: &mut Body<'_>, taken: &Shape, result: &mut Option<Shape>) -> ComputationId {
    let mut inner = body.nested(ComputationKind::FixedSignature);
    inner.parameter(taken.clone());
    let count = 1 + inner.world.rng.below(5);
    inner.grow(count);
    let root = match result {
        None => inner.root(),
        Some(result) => inner.value(result),
    };
    result.get_or_insert_with(|| inner.shape(root).without_layout());
    inner.finish("branch", root)
}
