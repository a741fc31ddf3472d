//! Results of a device against the bounds of what it may compute.

use crate::near::{is_double, numbers};
use weft_hlo::bounds::{Bounded, evaluate_with_bounds};
use weft_hlo::eval::{Config, converted};
use weft_hlo::ir::{BinaryOp, ElementType, Literal, Module, Op, UnaryOp};
use weft_partition::Target;

/// What kernels for a target compute an operation to: units in the last place, as `codegen-wgsl/docs/accuracy.md` allows.
fn units(target: &Target, op: &Op, ty: ElementType) -> f64 {
    let is_single = !is_double(ty);
    if ty.is_complex() {
        return match op {
            Op::Binary(BinaryOp::Add | BinaryOp::Subtract) => 0.5,
            Op::Unary(_) | Op::Binary(_) => 8.0,
            _ => 0.5,
        };
    }
    match op {
        Op::Unary(op) => match op {
            UnaryOp::Exponential
            | UnaryOp::ExponentialMinusOne
            | UnaryOp::Log
            | UnaryOp::LogPlusOne
            | UnaryOp::Tanh
                if is_single =>
            {
                2.0
            }
            UnaryOp::Sqrt if is_single && !target.arithmetic.exact_sqrt => 2.5,
            UnaryOp::Abs
            | UnaryOp::Ceil
            | UnaryOp::Floor
            | UnaryOp::Negate
            | UnaryOp::RoundNearestAfz
            | UnaryOp::RoundNearestEven
            | UnaryOp::Sign
            | UnaryOp::Sqrt => 0.5,
            _ => 4.0,
        },
        Op::Binary(op) => match op {
            BinaryOp::Divide if is_single && !target.arithmetic.exact_division => 2.5,
            BinaryOp::Atan2 | BinaryOp::Power => 4.0,
            _ => 0.5,
        },
        _ => 0.5,
    }
}

/// The results of a module for these inputs, with how far those of a device for this target may be from them.
pub(crate) fn bounds(module: &Module, inputs: &[Literal], target: &Target) -> Result<Vec<Bounded>, String> {
    let units = |op: &Op, ty: ElementType| units(target, op, ty);
    evaluate_with_bounds(module, inputs, &Config::default(), &units).map_err(|found| format!("evaluator: {found}"))
}

/// The first element of a device's array that is further from its precise value than it may be: what is known exactly differs in a bit,
/// but for those of NaNs.
pub(crate) fn difference(bounded: &Bounded, actual: &Literal) -> Option<(usize, String)> {
    let expected = &bounded.value;
    let extents = |literal: &Literal| literal.shape.as_array().map(|array| array.extents.clone());
    if extents(expected) != extents(actual) {
        return Some((0, format!("{} became {}", expected.shape, actual.shape)));
    }
    let ty = actual.data.element_type()?;
    let narrowed = converted(&expected.data, ty)?;
    bounded.error.iter().enumerate().find_map(|(position, error)| {
        let (precise, exact) = (expected.data.get(position)?, narrowed.get(position)?);
        let actual = actual.data.get(position)?;
        if *error == f64::INFINITY || exact.bits() == actual.bits() {
            return None;
        }
        let (wanted, given) = (numbers(precise).unwrap_or_default(), numbers(actual).unwrap_or_default());
        let is_near = |(wanted, given): (&f64, &f64)| match *error == 0.0 {
            true => wanted.to_bits() == given.to_bits() || wanted.is_nan() && given.is_nan(),
            false => wanted == given || wanted.is_nan() && given.is_nan() || (wanted - given).abs() <= *error,
        };
        let is_right = !wanted.is_empty() && wanted.iter().zip(&given).all(is_near);
        let of = bounded.error.len();
        (!is_right).then(|| {
            let found = format!("element {position} of {of} is {precise} and became {actual}, more than {error:e} off");
            (position, found)
        })
    })
}

/// How many elements are known exactly, within a bound, and not at all.
pub(crate) fn certainties(bounded: &Bounded) -> [u64; 3] {
    let mut counts = [0; 3];
    for error in &bounded.error {
        counts[if *error == 0.0 {
            0
        } else if error.is_finite() {
            1
        } else {
            2
        }] += 1;
    }
    counts
}
