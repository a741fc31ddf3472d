//! How far each element of a result may be from its precise value.
//!
//! [`evaluate_with_bounds`] evaluates as [`evaluate_precisely`] does, and propagates beside every
//! element a bound on the error of an implementation that rounds: of one that takes sums in any order, computes floats narrower than
//! `f32` in `f32` and rounds them once, may take subnormal numbers for zeros, and is off by so many units in the last place for each
//! function as the caller allows. It is the running error analysis of N. Higham, *Accuracy and Stability of Numerical Algorithms*
//! (2002), sections 3.3 and 4.2, with intervals in place of derivatives: a function of numbers that are not known exactly is looked at
//! where it is least and greatest.
//!
//! A value is known exactly (its bound is 0), within a bound, or not at all (the bound is infinite): behind a comparison that the
//! errors of its operands leave open, behind a pole, behind an overflow, and behind operations that have no rule here (loops, sorts
//! and factorizations of numbers that are not exact).

mod elementwise;
mod fold;
mod rounding;
mod single;

use crate::diagnostic::Diagnostics;
use crate::eval::{Config, evaluate_precisely};
use crate::ir::{ArenaId, Computation, ComputationId, Data, ElementType, Instruction, Literal, Module, Op, Shape};
use crate::passes::flatten_around;
use rounding::Rounding;
use single::{Moved, wide};

/// An array, element by element: its precise value, and how far that of an implementation may be from it.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The value: `f64` and `c128` where the program has floats and complex numbers.
    pub value: Literal,
    /// For each element how large the error of a number may be, or that of the larger part of a complex one. 0 where it is known exactly,
    /// infinity where nothing is known; one of these for integers and `pred`.
    pub error: Vec<f64>,
}

impl Bounded {
    /// Of an array that every implementation has as it is, but for subnormal numbers.
    fn given(literal: &Literal) -> Self {
        let rounding = literal.data.element_type().and_then(Rounding::of);
        let value = wide(literal);
        let error = match rounding {
            Some(rounding) => (0..value.data.len().unwrap_or(0))
                .map(|at| rounding.flushed_parts(parts(&value.data, at), 0.0))
                .collect(),
            None => vec![0.0; value.data.len().unwrap_or(0)],
        };
        Bounded { value, error }
    }

    fn len(&self) -> usize {
        self.error.len()
    }

    /// Whether every element is known exactly.
    fn is_exact(&self) -> bool {
        self.error.iter().all(|&error| error == 0.0)
    }

    /// The error of the element at a position; a scalar stands for an array of any extents.
    fn error_at(&self, position: usize) -> f64 {
        if self.error.len() == 1 { self.error[0] } else { self.error[position] }
    }

    /// The numbers, where they are real floats.
    fn reals(&self) -> Option<&[f64]> {
        match &self.value.data {
            Data::F64(values) => Some(values),
            _ => None,
        }
    }
}

/// The larger part of an element, without sign; 0 of what is no float.
fn size(data: &Data, position: usize) -> f64 {
    match data {
        Data::F64(values) => values[position].abs(),
        Data::C128(values) if values[position].is_nan() => f64::NAN,
        Data::C128(values) => values[position].re.abs().max(values[position].im.abs()),
        _ => 0.0,
    }
}

/// The parts of an element, without sign: two of a complex number, one of a real one.
fn parts(data: &Data, position: usize) -> [Option<f64>; 2] {
    match data {
        Data::F64(values) => [Some(values[position].abs()), None],
        Data::C128(values) => [Some(values[position].re.abs()), Some(values[position].im.abs())],
        _ => [None; 2],
    }
}

/// What an implementation computes each operation to: units in the last place of its result, for elements of a type. At most 0.5 says
/// that results are those nearest to the exact ones. Of types narrower than `f32` it is about the `f32` that is rounded next.
pub type Units<'u> = &'u dyn Fn(&Op, ElementType) -> f64;

/// The results of the module's entry for `inputs` with their bounds: of each array in order, those of tuples left to right.
///
/// Time and memory are linear in the instructions and elements, as those of an evaluation; what is applied to elements is copied for
/// each instruction that applies it.
///
/// # Errors
/// Those of [`evaluate_precisely`] and of [`flatten_around`].
///
/// ```
/// use weft_hlo::bounds::evaluate_with_bounds;
/// use weft_hlo::ir::Literal;
///
/// let text = "HloModule m\n\nENTRY main {\n  x = f32[2] parameter(0)\n  e = f32[2] exponential(x)\n  ROOT y = f32[2] add(e, x)\n}\n";
/// let module = weft_hlo::text::parse(text)?;
/// let x = Literal::array([2], vec![0f32, 1.0]);
/// let results = evaluate_with_bounds(&module, &[x], &Default::default(), &|op, _| match op {
///     weft_hlo::ir::Op::Unary(_) => 2.0,
///     _ => 0.5,
/// })?;
/// // Two units of e and half a unit of the sum.
/// let units = results[0].error[1] / f64::from(f32::EPSILON);
/// assert!((4.9..5.1).contains(&units));
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn evaluate_with_bounds(
    module: &Module,
    inputs: &[Literal],
    config: &Config,
    units: Units<'_>,
) -> Result<Vec<Bounded>, Diagnostics> {
    let flat = flatten_around(module)?;
    // What the inputs and the operations are is found wrong as it is there.
    evaluate_precisely(&flat, inputs, config)?;
    let run = Run { module: &flat, config, units };
    let entry = flat.entry_computation();
    let given = inputs.iter().map(Bounded::given).collect();
    run.computation(entry, given)
}

struct Run<'r> {
    module: &'r Module,
    config: &'r Config,
    units: Units<'r>,
}

impl Run<'_> {
    /// The arrays that a computation yields, with a value for each of its parameters, which are arrays.
    fn computation(&self, computation: &Computation, given: Vec<Bounded>) -> Result<Vec<Bounded>, Diagnostics> {
        let mut known: Vec<Vec<Bounded>> = Vec::with_capacity(computation.instructions.len());
        for instruction in computation.instructions.values() {
            let operands: Vec<(&Shape, &[Bounded])> = (instruction.operands.iter())
                .map(|operand| (&computation.instructions[*operand].shape, &known[operand.index()][..]))
                .collect();
            let values = match &instruction.op {
                Op::Parameter { number } => given.get(*number as usize).cloned().into_iter().collect(),
                Op::Constant(literal) => literal.leaves().into_iter().map(Bounded::given).collect(),
                Op::Tuple => operands.iter().flat_map(|(_, values)| values.iter().cloned()).collect(),
                Op::GetTupleElement { index } => element(operands[0].0, operands[0].1, *index),
                Op::Call { to_apply: called } | Op::Fusion { calls: called, .. } => {
                    let given = operands.iter().flat_map(|(_, values)| values.iter().cloned()).collect();
                    self.computation(&self.module.computations[*called], given)?
                }
                _ => self.instruction(instruction, &operands)?,
            };
            known.push(values);
        }
        Ok(known.swap_remove(computation.root.index()))
    }

    /// What an instruction makes of its operands.
    fn instruction(
        &self,
        instruction: &Instruction,
        operands: &[(&Shape, &[Bounded])],
    ) -> Result<Vec<Bounded>, Diagnostics> {
        if let Op::Map { to_apply, .. } = &instruction.op
            && let Some(found) = self.map(*to_apply, &instruction.shape, operands)?
        {
            return Ok(found);
        }
        let flat: Vec<&Bounded> = operands.iter().flat_map(|(_, values)| *values).collect();
        let shapes: Vec<&Shape> = operands.iter().map(|(shape, _)| *shape).collect();
        let arrays: Vec<&Literal> = flat.iter().map(|known| &known.value).collect();
        let values = single::evaluate(
            &self.module.computations,
            &instruction.op,
            &instruction.shape,
            &shapes,
            &arrays,
            self.config,
        )?;
        let leaves = instruction.shape.leaves().into_iter().filter(|leaf| leaf.as_array().is_some());
        let errors = self.errors(instruction, &shapes, &flat, &values)?;
        let all = values.into_iter().zip(errors).zip(leaves);
        Ok(all.map(|((value, error), shape)| settled(value, error, shape)).collect())
    }

    /// The errors of an instruction's arrays.
    fn errors(
        &self,
        instruction: &Instruction,
        shapes: &[&Shape],
        operands: &[&Bounded],
        values: &[Literal],
    ) -> Result<Vec<Vec<f64>>, Diagnostics> {
        let op = &instruction.op;
        let is_exact = operands.iter().all(|operand| operand.is_exact());
        let unknown = || values.iter().map(|value| vec![f64::INFINITY; value.data.len().unwrap_or(0)]).collect();
        let zeros = || values.iter().map(|value| vec![0.0; value.data.len().unwrap_or(0)]).collect();
        let computes = has_floats(&instruction.shape)
            || shapes.iter().any(|shape| has_floats(shape))
            || op.called_computations().into_iter().any(|called| self.has_floats(called));
        // Integers are exact or unknown, element by element where that is how they are computed.
        if !computes && !op.opcode().is_elementwise() && self.data_operands(op, shapes.len()).is_none() {
            return Ok(if is_exact { zeros() } else { unknown() });
        }
        if let Some(data) = self.data_operands(op, shapes.len()) {
            let indices_are_exact =
                operands.iter().enumerate().all(|(at, operand)| data.contains(&at) || operand.is_exact());
            if !indices_are_exact {
                return Ok(unknown());
            }
            let moved: Vec<Moved<'_>> = (operands.iter().enumerate())
                .map(
                    |(at, operand)| {
                        if data.contains(&at) { Moved::Errors(&operand.error) } else { Moved::Values(&operand.value) }
                    },
                )
                .collect();
            return Ok(vec![single::of_errors(op, &instruction.shape, shapes, &moved, self.config)?]);
        }
        let found = match op {
            Op::Iota { .. } => Some(vec![elementwise::rounded(&values[0], &instruction.shape, None, |_| 0.5)]),
            Op::Reduce { .. }
            | Op::ReduceWindow { .. }
            | Op::SelectAndScatter { .. }
            | Op::Scatter { .. }
            | Op::Dot { .. }
            | Op::Convolution { .. } => fold::errors(self, instruction, shapes, operands, values)?,
            _ if values.len() == 1 => {
                elementwise::errors(self, instruction, shapes, operands, &values[0])?.map(|errors| vec![errors])
            }
            _ => None,
        };
        Ok(match found {
            Some(errors) => errors,
            // What only chooses among elements that are exact does as it should.
            None if is_exact && self.only_chooses(instruction) => zeros(),
            None => unknown(),
        })
    }

    /// Which operands of an operation are moved to its result as they are; the others say where to. `None` of operations that compute.
    fn data_operands(&self, op: &Op, count: usize) -> Option<std::ops::Range<usize>> {
        Some(match op {
            Op::Broadcast { .. }
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Reverse { .. }
            | Op::Copy
            | Op::Concatenate { .. }
            | Op::Pad { .. } => 0..count,
            Op::OptimizationBarrier if count == 1 => 0..1,
            Op::DynamicSlice { .. } | Op::Gather { .. } => 0..1,
            Op::DynamicUpdateSlice => 0..2,
            _ => return None,
        })
    }

    /// Whether an instruction, with the computations that it applies, only moves floats, compares them and chooses among them.
    fn only_chooses(&self, instruction: &Instruction) -> bool {
        match &instruction.op {
            Op::Sort { to_apply, .. } => self.chooses(*to_apply),
            Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. } | Op::Map { to_apply, .. } => {
                self.chooses(*to_apply)
            }
            Op::SelectAndScatter { select, scatter, .. } => self.chooses(*select) && self.chooses(*scatter),
            Op::Scatter { to_apply, .. } => self.chooses(*to_apply),
            Op::RngBitGenerator { .. } | Op::TopK { .. } => true,
            _ => false,
        }
    }

    /// Whether a computation, or one that it calls, has values that are floats or complex numbers.
    fn has_floats(&self, id: ComputationId) -> bool {
        self.module.computations[id].instructions.values().any(|instruction| {
            has_floats(&instruction.shape)
                || instruction.op.called_computations().into_iter().any(|called| self.has_floats(called))
        })
    }

    fn chooses(&self, id: ComputationId) -> bool {
        self.module.computations[id].instructions.values().all(|instruction| match &instruction.op {
            Op::Unary(_) | Op::Binary(_) | Op::Convert | Op::BitcastConvert => {
                let is_extreme =
                    matches!(instruction.op, Op::Binary(crate::ir::BinaryOp::Maximum | crate::ir::BinaryOp::Minimum));
                is_extreme || instruction.shape.leaves().into_iter().all(is_whole)
            }
            Op::Parameter { .. }
            | Op::Constant(_)
            | Op::Compare { .. }
            | Op::Select
            | Op::Clamp
            | Op::Tuple
            | Op::GetTupleElement { .. } => true,
            Op::Call { to_apply } => self.chooses(*to_apply),
            _ => false,
        })
    }

    /// `map`: the computation on arrays in place of scalars. `None` where it is more than operations of elements.
    fn map(
        &self,
        id: ComputationId,
        shape: &Shape,
        operands: &[(&Shape, &[Bounded])],
    ) -> Result<Option<Vec<Bounded>>, Diagnostics> {
        let Some(array) = shape.as_array() else { return Ok(None) };
        let count = array.element_count().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        let mut computation = self.module.computations[id].clone();
        for instruction in computation.instructions.values_mut() {
            let Shape::Array(scalar) = &mut instruction.shape else { return Ok(None) };
            let is_of_elements = match &mut instruction.op {
                Op::Constant(literal) => match literal.splat() {
                    Some(value) => {
                        *literal = Literal::array(array.extents.clone(), Data::filled(value, count));
                        true
                    }
                    None => false,
                },
                Op::Parameter { .. } => true,
                op => op.opcode().is_elementwise(),
            };
            if !is_of_elements || scalar.rank() != 0 {
                return Ok(None);
            }
            *scalar = crate::ir::ArrayShape::new(scalar.element_type, array.extents.clone());
        }
        let given = operands.iter().flat_map(|(_, values)| values.iter().cloned()).collect();
        self.computation(&computation, given).map(Some)
    }
}

/// The arrays of one element of a tuple.
fn element(tuple: &Shape, arrays: &[Bounded], index: i64) -> Vec<Bounded> {
    let elements = tuple.as_tuple().unwrap_or_default();
    let count = |element: &Shape| element.leaves().into_iter().filter(|leaf| leaf.as_array().is_some()).count();
    let before: usize = elements[..index as usize].iter().map(count).sum();
    arrays[before..before + count(&elements[index as usize])].to_vec()
}

/// Whether an array is one of integers or `pred`, or none.
fn is_whole(shape: &Shape) -> bool {
    shape.as_array().is_none_or(|array| array.element_type.is_integer() || array.element_type == ElementType::Pred)
}

fn has_floats(shape: &Shape) -> bool {
    shape.leaves().into_iter().any(|leaf| !is_whole(leaf))
}

/// An array with errors that say something: those that are not numbers are of nothing known, integers are exact or unknown, and so is
/// what its type does not have.
fn settled(value: Literal, mut error: Vec<f64>, shape: &Shape) -> Bounded {
    let is_whole = is_whole(shape);
    let rounding = shape.as_array().and_then(|array| Rounding::of(array.element_type));
    let has_no_sign = rounding.is_some_and(|rounding| !rounding.has_sign());
    for (at, error) in error.iter_mut().enumerate() {
        let is_missing = has_no_sign
            && matches!(&value.data, Data::F64(values) if values[at] - *error < f64::from(f32::MIN_POSITIVE));
        if error.is_nan() || is_missing || is_whole && *error > 0.0 {
            *error = f64::INFINITY;
        }
    }
    Bounded { value, error }
}
