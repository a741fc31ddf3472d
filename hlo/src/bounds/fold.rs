//! Bounds of sums, products and extremes in any order: reductions, windows, scattered sums, products of matrices, convolutions.

use super::rounding::Rounding;
use super::single::{self, reals};
use super::{Bounded, Run, is_whole};
use crate::diagnostic::Diagnostics;
use crate::ir::{
    Arena, ArrayShape, BinaryOp, Computation, ComputationId, Data, ElementType, InstrId, Instruction, Literal, Module,
    Op, Shape,
};

/// The errors of the arrays that an instruction folds; `None` where there is no rule.
pub(super) fn errors(
    run: &Run<'_>,
    instruction: &Instruction,
    shapes: &[&Shape],
    operands: &[&Bounded],
    values: &[Literal],
) -> Result<Option<Vec<Vec<f64>>>, Diagnostics> {
    let fold = Fold { run, op: &instruction.op, shapes, operands };
    match &instruction.op {
        Op::Dot { .. } | Op::Convolution { .. } => {
            let extents = shapes[1].as_array().map_or(&[][..], |array| &array.extents);
            // Of the right operand: the extents that are summed over, or all but that of the features that are made.
            let terms: i64 = match &instruction.op {
                Op::Dot { rhs_contracting_dims: summed, .. } => {
                    summed.iter().map(|dim| extents[*dim as usize]).product()
                }
                Op::Convolution { dim_labels, .. } => {
                    let made = dim_labels.kernel_output_feature as usize;
                    extents.iter().enumerate().filter(|(dim, _)| *dim != made).map(|(_, extent)| extent).product()
                }
                _ => 1,
            };
            fold.products(terms, &instruction.shape, &values[0]).map(|found| found.map(|errors| vec![errors]))
        }
        Op::SelectAndScatter { select, scatter, window } => {
            if !operands[0].is_exact()
                || !run.chooses(*select)
                || combiners(run.module, *scatter, 1).as_deref() != Some(&[BinaryOp::Add])
            {
                return Ok(None);
            }
            let terms: i64 = window.dimensions.iter().map(|dimension| dimension.size).product();
            fold.lane(BinaryOp::Add, &[0], &[1, 2], terms, &values[0]).map(|errors| Some(vec![errors]))
        }
        Op::Scatter { to_apply, .. } if operands.len() == 3 => {
            if !operands[1].is_exact() || combiners(run.module, *to_apply, 1).as_deref() != Some(&[BinaryOp::Add]) {
                return Ok(None);
            }
            let terms = operands[2].len() as i64;
            fold.lane(BinaryOp::Add, &[1], &[0, 2], terms, &values[0]).map(|errors| Some(vec![errors]))
        }
        Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. } => {
            let count = values.len();
            let Some(combiners) = combiners(run.module, *to_apply, count) else { return Ok(None) };
            let terms: i64 = match &instruction.op {
                Op::ReduceWindow { window, .. } => window.dimensions.iter().map(|dimension| dimension.size).product(),
                _ => (operands[0].len() / values[0].data.len().unwrap_or(1).max(1)) as i64,
            };
            let lane = |lane: usize| fold.lane(combiners[lane], &[], &[lane, lane + count], terms, &values[lane]);
            (0..count).map(lane).collect::<Result<_, _>>().map(Some)
        }
        _ => Ok(None),
    }
}

/// What a computation combines each accumulator and its element by, where it is one operation for each.
fn combiners(module: &Module, id: ComputationId, lanes: usize) -> Option<Vec<BinaryOp>> {
    let region = &module.computations[id];
    let number = |id: InstrId| match region.instructions[id].op {
        Op::Parameter { number } => usize::try_from(number).ok(),
        _ => None,
    };
    let root = &region.instructions[region.root];
    let values = if root.op == Op::Tuple { root.operands.clone() } else { vec![region.root] };
    let of_lane = |(lane, value): (usize, &InstrId)| {
        let Instruction { op: Op::Binary(op), operands, .. } = &region.instructions[*value] else { return None };
        let mut pair = [number(operands[0])?, number(operands[1])?];
        pair.sort_unstable();
        (pair == [lane, lane + lanes]).then_some(*op)
    };
    (values.len() == lanes).then(|| values.iter().enumerate().map(of_lane).collect())?
}

struct Fold<'f> {
    run: &'f Run<'f>,
    op: &'f Op,
    shapes: &'f [&'f Shape],
    operands: &'f [&'f Bounded],
}

impl Fold<'_> {
    /// The operation with numbers in place of the operands at `data`, the first of which is what is folded, by one operation of `f64`.
    fn of_numbers(
        &self,
        by: BinaryOp,
        places: &[usize],
        data: &[usize],
        numbers: &[Vec<f64>],
        like: &Literal,
    ) -> Result<Vec<f64>, Diagnostics> {
        // Windows are chosen among by a computation of the module.
        let mut computations: Arena<ComputationId, Computation> = match self.op {
            Op::SelectAndScatter { .. } => self.run.module.computations.values().cloned().collect(),
            _ => Arena::new(),
        };
        let scalar = Shape::scalar(ElementType::F64);
        let mut instructions: Arena<InstrId, Instruction> = Arena::new();
        let [left, right] = [0, 1].map(|number| {
            instructions.push(Instruction::new(
                format!("x{number}"),
                scalar.clone(),
                Op::Parameter { number },
                Vec::new(),
            ))
        });
        let root = instructions.push(Instruction::new("y", scalar, Op::Binary(by), vec![left, right]));
        let region = computations.push(Computation::new("combined alone", instructions, root));
        let mut op = self.op.clone();
        match &mut op {
            Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. } | Op::Scatter { to_apply, .. } => {
                *to_apply = region
            }
            Op::SelectAndScatter { scatter, .. } => *scatter = region,
            _ => {}
        }
        let mut order: Vec<usize> = places.iter().chain(data).copied().collect();
        if matches!(op, Op::Scatter { .. } | Op::SelectAndScatter { .. }) {
            order.sort_unstable();
        }
        let shapes: Vec<Shape> = order
            .iter()
            .map(|at| match data.contains(at) {
                true => in_f64(self.shapes[*at]),
                false => self.shapes[*at].clone(),
            })
            .collect();
        let arrays: Vec<Literal> = order
            .iter()
            .zip(&shapes)
            .map(|(at, shape)| match data.iter().position(|of| of == at) {
                Some(of) => Literal { shape: shape.without_layout(), data: Data::F64(numbers[of].clone()) },
                None => self.operands[*at].value.clone(),
            })
            .collect();
        let (shapes, arrays): (Vec<&Shape>, Vec<&Literal>) = (shapes.iter().collect(), arrays.iter().collect());
        let found = single::evaluate(&computations, &op, &in_f64(&like.shape), &shapes, &arrays, self.run.config)?;
        Ok(found.into_iter().next().map(reals).unwrap_or_default())
    }

    /// The errors of one array that is folded of the operands at `data` by an operation, of at most so many elements besides the initial one;
    /// those at `places` say where.
    fn lane(
        &self,
        by: BinaryOp,
        places: &[usize],
        data: &[usize],
        terms: i64,
        value: &Literal,
    ) -> Result<Vec<f64>, Diagnostics> {
        let count = value.data.len().unwrap_or(0);
        let element_type = self.shapes[data[0]].as_array().map(|array| array.element_type);
        let is_exact = data.iter().all(|at| self.operands[*at].is_exact());
        let numbers = |of: &dyn Fn(f64, f64) -> f64| -> Option<Vec<Vec<f64>>> {
            let of_operand = |at: &usize| {
                let operand = self.operands[*at];
                Some(operand.reals()?.iter().zip(&operand.error).map(|(value, error)| of(*value, *error)).collect())
            };
            data.iter().map(of_operand).collect()
        };
        let unknown = vec![f64::INFINITY; count];
        let Some(rounding) = element_type.filter(|ty| ty.is_float()).and_then(Rounding::of) else {
            let is_known = is_exact && (element_type.is_none_or(|ty| !ty.is_complex()));
            return Ok(if is_known { vec![0.0; count] } else { unknown });
        };
        let (Some(finite), Some(errors)) = (
            numbers(&|value, error| if value.is_finite() { value.abs() + error } else { 0.0 }),
            numbers(&|_, error| error),
        ) else {
            return Ok(unknown);
        };
        let all = (terms + 1) as f64;
        let folded = |by: BinaryOp, numbers: &[Vec<f64>]| self.of_numbers(by, places, data, numbers, value);
        match by {
            // The initial value of errors is an error too, and none is less than 0.
            BinaryOp::Maximum | BinaryOp::Minimum => folded(BinaryOp::Maximum, &errors),
            BinaryOp::Add => {
                let (sizes, errors) = (folded(BinaryOp::Add, &finite)?, folded(BinaryOp::Add, &errors)?);
                let grain = self.grain(data);
                Ok(self.sums(&rounding, all, &sizes, &errors, grain, value))
            }
            BinaryOp::Multiply => {
                let Some(sizes) = numbers(&|value, _| value.abs()) else { return Ok(unknown) };
                let Some(above) = numbers(&|value, error| (value.abs() + error).max(1.0)) else { return Ok(unknown) };
                let Some(below) = numbers(&|value, error| (value.abs() - error).min(1.0)) else { return Ok(unknown) };
                let (products, sizes) = (folded(BinaryOp::Multiply, &finite)?, folded(BinaryOp::Multiply, &sizes)?);
                let (above, below) = (folded(BinaryOp::Multiply, &above)?, folded(BinaryOp::Multiply, &below)?);
                let growth = libm::pow(1.0 + self.epsilon(&rounding), all);
                Ok((0..count)
                    .map(|at| {
                        // Neither too large nor subnormal in any order.
                        let is_tame =
                            above[at] * growth <= rounding.max() && below[at] > rounding.least_normal() * growth;
                        let error = products[at] * growth - sizes[at];
                        if is_tame {
                            rounding.flushed(sizes[at], rounding.error(sizes[at], error, 0.0))
                        } else {
                            f64::INFINITY
                        }
                    })
                    .collect())
            }
            _ => Ok(unknown),
        }
    }

    /// The errors of sums of so many terms in any order, with the sums of the terms' sizes and errors; `grain` divides all terms that are
    /// exact.
    fn sums(
        &self,
        rounding: &Rounding,
        all: f64,
        sizes: &[f64],
        errors: &[f64],
        grain: Option<f64>,
        value: &Literal,
    ) -> Vec<f64> {
        let Data::F64(values) = &value.data else { return vec![f64::INFINITY; sizes.len()] };
        values
            .iter()
            .zip(sizes.iter().zip(errors))
            .map(|(value, (size, error))| {
                // Sums of few enough multiples of a number are exact.
                if grain.is_some_and(|grain| {
                    *error == 0.0
                        && *size <= rounding.max()
                        && *size * self.epsilon(rounding) <= grain
                        && rounding.has(*value)
                }) {
                    return 0.0;
                }
                let own = all * (self.epsilon(rounding) * size + rounding.least_normal().min(*size));
                match size + error + own <= rounding.max() {
                    // An infinity or NaN among the terms is so in any order, if no other comes up.
                    true if !value.is_finite() => {
                        if error.is_finite() {
                            0.0
                        } else {
                            f64::INFINITY
                        }
                    }
                    true => rounding.flushed(value.abs(), rounding.error(value.abs(), error + own, 0.0)),
                    false => f64::INFINITY,
                }
            })
            .collect()
    }

    /// The relative error of a step. A sum or product of one array is accumulated in the type that is computed in; where several arrays are
    /// folded at once, or elements are combined in memory, each step is rounded.
    fn epsilon(&self, rounding: &Rounding) -> f64 {
        let [register, own] = rounding.epsilons();
        match self.op {
            Op::Dot { .. } | Op::Convolution { .. } => register,
            Op::Reduce { .. } | Op::ReduceWindow { .. } if self.operands.len() == 2 => register,
            _ => own,
        }
    }

    /// The greatest power of two that all elements of operands are multiples of; `None` where one is not finite.
    fn grain(&self, data: &[usize]) -> Option<f64> {
        let mut least = f64::MAX;
        for at in data {
            let numbers = crate::eval::converted(&self.operands[*at].value.data, ElementType::F64)?;
            let Data::F64(numbers) = numbers else { return None };
            for number in numbers.into_iter().filter(|number| *number != 0.0) {
                least = least.min(grain(number)?);
            }
        }
        (least >= f64::from(f32::MIN_POSITIVE)).then_some(least)
    }

    /// The errors of sums of products of the elements of two operands.
    fn products(&self, terms: i64, shape: &Shape, value: &Literal) -> Result<Option<Vec<f64>>, Diagnostics> {
        let count = value.data.len().unwrap_or(0);
        let whole = self.shapes[..2].iter().all(|shape| is_whole(shape)) && is_whole(shape);
        if whole {
            let is_exact = self.operands.iter().all(|operand| operand.is_exact());
            return Ok(is_exact.then(|| vec![0.0; count]));
        }
        let Some(rounding) = shape
            .as_array()
            .filter(|array| array.element_type.is_float())
            .and_then(|array| Rounding::of(array.element_type))
        else {
            return Ok(None);
        };
        let of_operand = |at: usize, of: fn(f64, f64) -> f64| -> Option<Vec<f64>> {
            let operand = self.operands[at];
            let numbers = crate::eval::converted(&operand.value.data, ElementType::F64)?;
            let Data::F64(numbers) = numbers else { return None };
            Some(numbers.iter().zip(&operand.error).map(|(value, error)| of(*value, *error)).collect())
        };
        let sizes = |at: usize| of_operand(at, |value, _| value.abs());
        let errors = |at: usize| of_operand(at, |_, error| error);
        let largest = of_operand(0, |value, error| value.abs() + error);
        let (Some(a), Some(of_a), Some(b), Some(of_b), Some(c)) = (sizes(0), errors(0), sizes(1), errors(1), largest)
        else {
            return Ok(None);
        };
        let product = |left: &[f64], right: &[f64]| {
            self.of_numbers(BinaryOp::Add, &[], &[0, 1], &[left.to_vec(), right.to_vec()], value)
        };
        // |xy - ab| is at most |x - a| |b| + |x| |y - b|.
        let (sizes, from_b, from_a) = (product(&a, &b)?, product(&c, &of_b)?, product(&of_a, &b)?);
        let errors: Vec<f64> = from_a.iter().zip(&from_b).map(|(one, other)| one + other).collect();
        let grain = self.grain(&[0]).zip(self.grain(&[1])).map(|(one, other)| one * other);
        Ok(Some(self.sums(&rounding, terms as f64 + 1.0, &sizes, &errors, grain, value)))
    }
}

/// A shape with numbers of `f64` in place of its elements.
fn in_f64(shape: &Shape) -> Shape {
    let of = |shape: &Shape| match shape.as_array() {
        Some(array) => Shape::Array(ArrayShape { element_type: ElementType::F64, ..array.clone() }),
        None => shape.clone(),
    };
    of(shape)
}

/// The greatest power of two that divides a number other than 0.
fn grain(number: f64) -> Option<f64> {
    let exponent = (number.to_bits() >> 52 & 0x7ff) as i32;
    let mantissa = number.to_bits() & ((1 << 52) - 1) | 1 << 52;
    (exponent != 0 && exponent != 0x7ff).then(|| libm::ldexp(1.0, exponent - 1075 + mantissa.trailing_zeros() as i32))
}
