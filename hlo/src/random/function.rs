//! Random computations for call, fusion and map.

use super::body::{Body, ComputationKind};
use super::module::Function;
use super::region::region;
use crate::ir::{FusionKind, InstrId, Op, Shape};

pub(super) fn call(body: &mut Body<'_>) -> Option<InstrId> {
    let function = function(body, "function", false)?;
    let op = Op::Call { to_apply: function.id };
    // Calls of one function with different operands.
    if body.world.rng.chance(35) {
        apply(body, &function, op.clone());
    }
    apply(body, &function, op)
}

pub(super) fn fusion(body: &mut Body<'_>) -> Option<InstrId> {
    let is_plain = body.world.options.plain_fusions;
    let function = function(body, "fused", is_plain)?;
    let kind = body.world.rng.choose(&[FusionKind::Loop, FusionKind::Input, FusionKind::Output])?;
    apply(body, &function, Op::fusion(kind, function.id))
}

fn apply(body: &mut Body<'_>, function: &Function, op: Op) -> Option<InstrId> {
    let operands: Vec<InstrId> = function.parameters.iter().map(|shape| body.argument(shape)).collect();
    let is_allowed = body.is_allowed(&op, &operands, &function.result);
    is_allowed.then(|| body.push(op, operands, function.result.clone()))
}

/// A function that is there, or a new one; a plain one, if asked for.
fn function(body: &mut Body<'_>, purpose: &str, is_plain: bool) -> Option<Function> {
    let (depth, is_small) = (body.depth + 1, body.kind == ComputationKind::Region);
    let fits = |function: &&Function| {
        function.depth >= depth && (function.is_small || !is_small) && (function.is_plain || !is_plain)
    };
    let known: Vec<usize> = (0..body.world.functions.len()).filter(|&at| fits(&&body.world.functions[at])).collect();
    if body.world.rng.chance(40)
        && let Some(at) = body.world.rng.choose(&known)
    {
        return Some(body.world.functions[at].clone());
    }
    let mut inner = body.nested(ComputationKind::Function);
    inner.is_plain |= is_plain;
    for _ in 0..inner.world.rng.below(3) {
        let shape = inner.any_shape()?;
        inner.parameter(shape);
    }
    let count = 2 + inner.world.rng.below(6);
    inner.grow(count);
    let root = inner.root();
    let result = inner.shape(root).without_layout();
    let parameters: Vec<Shape> = inner.parameters.iter().map(Shape::without_layout).collect();
    let id = inner.finish(purpose, root);
    let is_plain = is_plain_function(&parameters, &result);
    let function = Function { id, parameters, result, depth, is_small, is_plain };
    body.world.functions.push(function.clone());
    Some(function)
}

/// Whether a function takes arrays, and yields an array or a tuple of at least one.
fn is_plain_function(parameters: &[Shape], result: &Shape) -> bool {
    let is_array = |shape: &Shape| shape.as_array().is_some();
    let is_plain = |elements: &[Shape]| !elements.is_empty() && elements.iter().all(is_array);
    parameters.iter().all(is_array) && result.as_tuple().map_or(is_array(result), is_plain)
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
    let to_apply = inner.finish("mapped", root);
    let dimensions = (0..array.rank() as i64).collect();
    body.emit(Op::Map { dimensions, to_apply }, operands, result)
}
