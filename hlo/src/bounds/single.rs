//! Instructions evaluated by themselves: modules of one instruction whose operands are parameters.

use crate::diagnostic::Diagnostics;
use crate::eval::{Config, evaluate_with, wide_literal, wide_module};
use crate::ir::{
    Arena, ArrayShape, Computation, ComputationId, Data, ElementType, InstrId, Instruction, Literal, Module, Op, Shape,
};
use std::collections::{BTreeMap, BTreeSet};

/// An array in the widest type, without layout.
pub(super) fn wide(literal: &Literal) -> Literal {
    let mut wide = wide_literal(literal);
    wide.shape = wide.shape.without_layout();
    wide
}

/// The arrays that an operation makes, in the widest types, of operands of these shapes whose arrays are these, in the widest types too.
pub(super) fn evaluate(
    computations: &Arena<ComputationId, Computation>,
    op: &Op,
    result: &Shape,
    shapes: &[&Shape],
    arrays: &[&Literal],
    config: &Config,
) -> Result<Vec<Literal>, Diagnostics> {
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut operands: Vec<InstrId> = Vec::with_capacity(shapes.len());
    let mut number = 0;
    for (position, shape) in shapes.iter().enumerate() {
        let op = match shape {
            Shape::Token => Op::AfterAll,
            _ => Op::Parameter { number },
        };
        number += i64::from(op != Op::AfterAll);
        operands.push(instructions.push(Instruction::new(format!("p{position}"), (*shape).clone(), op, Vec::new())));
    }
    let (mut all, op) = with_callees(computations, op);
    let root = instructions.push(Instruction::new("root", result.clone(), op, operands));
    let entry = all.push(Computation::new("alone", instructions, root));
    let arrays: Vec<Literal> = arrays.iter().map(|array| (*array).clone()).collect();
    evaluate_with(&wide_module(&Module::new("alone", all, entry)), &arrays, config)
}

/// The computations that an operation applies, with those that these apply, and the operation that applies them there.
fn with_callees(computations: &Arena<ComputationId, Computation>, op: &Op) -> (Arena<ComputationId, Computation>, Op) {
    let mut needed: BTreeSet<ComputationId> = BTreeSet::new();
    let mut pending = op.called_computations();
    while let Some(id) = pending.pop() {
        if needed.insert(id) {
            let called = computations[id].instructions.values().flat_map(|it| it.op.called_computations());
            pending.extend(called);
        }
    }
    let (mut taken, mut image) = (Arena::new(), BTreeMap::new());
    // Callees stand before their callers.
    for id in needed {
        let mut computation = computations[id].clone();
        for instruction in computation.instructions.values_mut() {
            instruction.op.rename_computations(|called| image.get(&called).copied().unwrap_or(called));
        }
        image.insert(id, taken.push(computation));
    }
    let mut op = op.clone();
    op.rename_computations(|called| image.get(&called).copied().unwrap_or(called));
    (taken, op)
}

/// An operand of what only moves elements.
pub(super) enum Moved<'m> {
    /// What is moved, in place of elements.
    Errors(&'m [f64]),
    /// What says where to.
    Values(&'m Literal),
}

/// The errors of the result of an operation that moves elements from operands of these shapes.
pub(super) fn of_errors(
    op: &Op,
    result: &Shape,
    shapes: &[&Shape],
    operands: &[Moved<'_>],
    config: &Config,
) -> Result<Vec<f64>, Diagnostics> {
    let of_f64 = |shape: &Shape| match shape.as_array() {
        Some(array) => Shape::Array(ArrayShape { element_type: ElementType::F64, ..array.clone() }),
        None => shape.clone(),
    };
    let shapes: Vec<Shape> = (shapes.iter().zip(operands))
        .map(|(shape, operand)| match operand {
            Moved::Errors(_) => of_f64(shape),
            Moved::Values(_) => (*shape).clone(),
        })
        .collect();
    let arrays: Vec<Literal> = (shapes.iter().zip(operands))
        .map(|(shape, operand)| match operand {
            Moved::Errors(errors) => Literal { shape: shape.without_layout(), data: Data::F64(errors.to_vec()) },
            Moved::Values(value) => (*value).clone(),
        })
        .collect();
    let (shapes, arrays): (Vec<&Shape>, Vec<&Literal>) = (shapes.iter().collect(), arrays.iter().collect());
    let found = evaluate(&Arena::new(), op, &of_f64(result), &shapes, &arrays, config)?;
    Ok(found.into_iter().next().map(reals).unwrap_or_default())
}

/// The numbers of an array of `f64`.
pub(super) fn reals(array: Literal) -> Vec<f64> {
    match array.data {
        Data::F64(values) => values,
        _ => Vec::new(),
    }
}
