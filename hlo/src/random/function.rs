//! Computations that are called with whole values, or applied to the elements of several arrays.

use super::body::{Body, Place};
use super::region::region;
use super::world::Function;
use crate::ir::{FusionKind, InstrId, Op, Shape};

pub(super) fn call(body: &mut Body<'_>) -> Option<InstrId> {
    let function = function(body, "function")?;
    let op = Op::Call { to_apply: function.id };
    // Calls of one function with different operands.
    if body.world.rng.chance(35) {
        apply(body, &function, op.clone());
    }
    Some(apply(body, &function, op))
}

pub(super) fn fusion(body: &mut Body<'_>) -> Option<InstrId> {
    let function = function(body, "fused")?;
    let kind = body.world.rng.choose(&[FusionKind::Loop, FusionKind::Input, FusionKind::Output])?;
    Some(apply(body, &function, Op::fusion(kind, function.id)))
}

fn apply(body: &mut Body<'_>, function: &Function, op: Op) -> InstrId {
    let operands = function.parameters.iter().map(|shape| body.value(shape)).collect();
    body.push(op, operands, function.result.clone())
}

/// A function that is there, or a new one.
fn function(body: &mut Body<'_>, purpose: &str) -> Option<Function> {
    let (depth, is_small) = (body.depth + 1, body.place == Place::Region);
    let fits = |function: &&Function| function.depth >= depth && (function.is_small || !is_small);
    let known: Vec<usize> = (0..body.world.functions.len()).filter(|&at| fits(&&body.world.functions[at])).collect();
    if body.world.rng.chance(40)
        && let Some(at) = body.world.rng.choose(&known)
    {
        return Some(body.world.functions[at].clone());
    }
    let mut inner = body.nested(Place::Function);
    for _ in 0..inner.world.rng.below(3) {
        let shape = inner.any_shape()?;
        inner.parameter(shape);
    }
    let count = 2 + inner.world.rng.below(6);
    inner.grow(count);
    let root = inner.root();
    let result = inner.shape(root).without_layout();
    let parameters = inner.parameters.iter().map(Shape::without_layout).collect();
    let name = inner.world.name(purpose);
    let id = inner.finish(name, root);
    let function = Function { id, parameters, result, depth, is_small };
    body.world.functions.push(function.clone());
    Some(function)
}

pub(super) fn map(body: &mut Body<'_>) -> Option<InstrId> {
    let first = body.array(|_| true, 0)?;
    let array = body.array_shape(first);
    let types = super::region::types(body, array.element_type);
    let mut operands = vec![first];
    for &element_type in &types[1..] {
        operands.push(body.operand(element_type, &array.extents));
    }
    let result = body.element_type(|_| true)?;
    let (mut inner, _) = region(body, types);
    let count = 1 + inner.world.rng.below(5);
    inner.grow(count);
    let root = inner.operand(result, &[]);
    let name = inner.world.name("mapped");
    let to_apply = inner.finish(name, root);
    let dimensions = (0..array.rank() as i64).collect();
    body.emit(Op::Map { dimensions, to_apply }, operands, result)
}
