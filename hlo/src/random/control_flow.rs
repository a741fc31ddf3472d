//! Random conditionals and while loops.

use super::body::{Body, ComputationKind};
use super::structure::element;
use crate::eval::converted;
use crate::ir::{BinaryOp, ComparisonDirection, ComputationId, Data, ElementType, InstrId, Literal, Op, Shape};

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

/// The greatest number of iterations of a loop.
pub const MAX_TRIP_COUNT: i64 = 5;

/// What a loop goes on with.
struct State {
    shape: Shape,
    /// Which element counts the rounds; `None` where the state is nothing but that.
    counter: Option<usize>,
    counted: ElementType,
    /// Whether it counts up, else down.
    rises: bool,
}

pub(super) fn while_loop(body: &mut Body<'_>) -> Option<InstrId> {
    let integers = |element_type: ElementType| element_type.is_integer() && element_type.bits() >= 4;
    let any = if body.world.rng.chance(50) { body.element_type(integers) } else { None };
    let counted = any.unwrap_or(ElementType::S32);
    let count = body.world.rng.below(4);
    let mut shapes = (0..count).map(|_| body.any_shape()).collect::<Option<Vec<Shape>>>()?;
    let counter = if count == 0 && body.world.rng.chance(50) { None } else { Some(body.world.rng.below(count + 1)) };
    if let Some(counter) = counter {
        shapes.insert(counter, Shape::scalar(counted));
    }
    let shape = if counter.is_some() { Shape::Tuple(shapes) } else { Shape::scalar(counted) };
    let state = State { shape, counter, counted, rises: body.world.rng.chance(70) };

    let start = start(body, &state);
    let operand = match state.counter {
        None => start,
        Some(counter) => {
            let elements = state.shape.as_tuple().unwrap_or_default().iter().enumerate();
            let operands = elements.map(|(at, shape)| if at == counter { start } else { body.value(shape) }).collect();
            body.push(Op::Tuple, operands, state.shape.clone())
        }
    };
    let (condition, round) = (condition(body, &state), round(body, &state));
    let shape = state.shape.clone();
    Some(body.push(Op::While { condition, body: round }, vec![operand], shape))
}

fn number(body: &mut Body<'_>, counted: ElementType, number: i64) -> InstrId {
    let data = converted(&Data::S64(vec![number]), counted).expect("the number is held");
    body.literal(Literal { shape: Shape::scalar(counted), data })
}

/// Where counting starts: a number, or what is computed, between bounds.
fn start(body: &mut Body<'_>, state: &State) -> InstrId {
    if body.world.rng.chance(60) {
        let first = if state.rises { body.world.rng.between(0, 2) } else { body.world.rng.between(0, MAX_TRIP_COUNT) };
        return number(body, state.counted, first);
    }
    let any = body.operand(state.counted, &[]);
    let (low, high) = (number(body, state.counted, 0), number(body, state.counted, MAX_TRIP_COUNT));
    body.push(Op::Clamp, vec![low, any, high], Shape::scalar(state.counted))
}

fn counter(body: &mut Body<'_>, state: &State, whole: InstrId) -> InstrId {
    state.counter.map_or(whole, |counter| element(body, whole, counter))
}

/// Whether the counter has not reached its end, and sometimes something else.
fn condition(body: &mut Body<'_>, state: &State) -> ComputationId {
    let mut inner = body.nested(ComputationKind::FixedSignature);
    let whole = inner.parameter(state.shape.clone());
    let counter = counter(&mut inner, state, whole);
    let last = if state.rises { inner.world.rng.between(0, MAX_TRIP_COUNT) } else { 0 };
    let last = number(&mut inner, state.counted, last);
    let turned = inner.world.rng.chance(20);
    let direction = match state.rises != turned {
        true => ComparisonDirection::Lt,
        false => ComparisonDirection::Gt,
    };
    let operands = if turned { vec![last, counter] } else { vec![counter, last] };
    let mut root = inner.push(Op::Compare { direction, order: None }, operands, Shape::scalar(ElementType::Pred));
    if inner.world.rng.chance(25) {
        inner.grow(3);
        let other = inner.operand(ElementType::Pred, &[]);
        root = inner.push(Op::Binary(BinaryOp::And), vec![root, other], Shape::scalar(ElementType::Pred));
    }
    inner.finish("condition", root)
}

fn round(body: &mut Body<'_>, state: &State) -> ComputationId {
    let mut inner = body.nested(ComputationKind::FixedSignature);
    let whole = inner.parameter(state.shape.clone());
    let counter = counter(&mut inner, state, whole);
    let shapes = state.shape.as_tuple().unwrap_or_default();
    let elements: Vec<InstrId> = (0..shapes.len())
        .map(|at| if state.counter == Some(at) { counter } else { element(&mut inner, whole, at) })
        .collect();
    let count = 1 + inner.world.rng.below(6);
    inner.grow(count);
    let step = if state.rises { inner.world.rng.between(1, 2) } else { 1 };
    let step = number(&mut inner, state.counted, step);
    let op = if state.rises { BinaryOp::Add } else { BinaryOp::Subtract };
    let next = inner.push(Op::Binary(op), vec![counter, step], Shape::scalar(state.counted));
    let root = match state.counter {
        None => next,
        Some(counter) => {
            let mut values = Vec::with_capacity(shapes.len());
            for (at, shape) in shapes.iter().enumerate() {
                // Some elements never change.
                let kept = inner.world.rng.chance(25);
                values.push(match at == counter {
                    true => next,
                    false if kept => elements[at],
                    false => inner.value(shape),
                });
            }
            inner.push(Op::Tuple, values, state.shape.clone())
        }
    };
    inner.finish("round", root)
}
