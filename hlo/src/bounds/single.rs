//! Instructions evaluated by themselves: modules of one instruction whose operands are parameters.

use crate::diagnostic::Diagnostics;
use crate::eval::{Config, evaluate_with, wide_literal, wide_module};
use crate::ir::{
    Arena, ArrayShape, Computation, ComputationId, Data, ElementType, InstrId, Instruction, Literal, Module, Op, Shape,
};

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
    let root = instructions.push(Instruction::new("root", result.clone(), op.clone(), operands));
    let mut all = if op.called_computations().is_empty() { Arena::new() } else { without_entry(computations) };
    let entry = all.push(Computation::new("alone", instructions, root));
    let arrays: Vec<Literal> = arrays.iter().map(|array| (*array).clone()).collect();
    evaluate_with(&wide_module(&Module::new("alone", all, entry)), &arrays, config)
}

/// All computations; their names are those of the module, in which no computation is called as ours is.
fn without_entry(computations: &Arena<ComputationId, Computation>) -> Arena<ComputationId, Computation> {
    computations.values().cloned().collect()
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
