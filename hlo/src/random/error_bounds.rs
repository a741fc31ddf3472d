//! Error bounds of the results of a module, by propagation of ranges and rounding errors.

use super::value_range::ValueRange;
use crate::ir::{
    Arena, ArenaId, BinaryOp, ComparisonType, Computation, ComputationId, Data, ElementType, InstrId, Instruction,
    Literal, Module, Op, Shape, UnaryOp,
};

/// For each array among the results of a module, how far an element may be from what [`evaluate`](crate::eval::evaluate)
/// gives for [tame](super::Numbers::Tame) inputs, as an absolute number, if an implementation computes each operation on
/// `f32` to about eight units in the last place, in whatever order reductions take, and integers and `pred` exactly. 0 for
/// arrays of those.
///
/// `None` where no bound is known: for other floats, for operations other than those of [`computed`](super::computed), where
/// something is not continuous (a comparison, rounding, conversion to integers) in a number that is not known exactly, where a
/// function is close to a pole, and where numbers or errors grow too large. Modules of [tame](super::Numbers::Tame) numbers
/// have bounds.
///
/// Ranges, errors and exactness are propagated from operands to results (N. Higham, *Accuracy and Stability of Numerical
/// Algorithms*, 2002, chapter 3, to first order).
///
/// ```
/// use weft_hlo::random::error_bounds;
///
/// let text = "HloModule m\n\nENTRY main {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] tanh(x)\n}\n";
/// let bounds = error_bounds(&weft_hlo::text::parse(text)?).expect("tanh is continuous");
/// assert!(bounds.len() == 1 && bounds[0] > 0.0 && bounds[0] < 1e-5);
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn error_bounds(module: &Module) -> Option<Vec<f64>> {
    let entry = module.entry_computation();
    let shapes = entry.parameters().into_iter().map(|id| &entry.instructions[id].shape);
    let parameters: Vec<Vec<ValueRange>> = shapes.map(|shape| given(shape, ValueRange::INPUT)).collect();
    let results = computed_ranges(&module.computations, entry, &parameters)?;
    Some(results.into_iter().map(|range| range.error).collect())
}

/// The ranges of a parameter whose `f32` lie in this range.
pub(super) fn given(shape: &Shape, float: ValueRange) -> Vec<ValueRange> {
    let leaf = |leaf: &Shape| match leaf.as_array().map(|array| array.element_type) {
        Some(ElementType::F32) => float,
        Some(exact) if is_exact(exact) => ValueRange::any(exact),
        _ => ValueRange::UNKNOWN,
    };
    shape.leaves().into_iter().map(leaf).collect()
}

/// Whether every implementation computes elements of the type exactly.
fn is_exact(element_type: ElementType) -> bool {
    element_type.is_integer() || element_type == ElementType::Pred
}

/// The ranges of the arrays that a computation yields for parameters of these ranges.
fn computed_ranges(
    computations: &Arena<ComputationId, Computation>,
    computation: &Computation,
    parameters: &[Vec<ValueRange>],
) -> Option<Vec<ValueRange>> {
    let mut known: Vec<Vec<ValueRange>> = Vec::with_capacity(computation.instructions.len());
    for instruction in computation.instructions.values() {
        let ranges = match instruction.op {
            Op::Parameter { number } => parameters.get(usize::try_from(number).ok()?)?.clone(),
            _ => {
                let operand = |id: &InstrId| (&computation.instructions[*id].shape, &known[id.index()][..]);
                let operands: Vec<Ranged<'_>> = instruction.operands.iter().map(operand).collect();
                ranges(computations, &instruction.op, &instruction.shape, &operands)?
            }
        };
        known.push(ranges);
    }
    known.get(computation.root.index()).cloned()
}

/// A value: its shape, and the range of each of its arrays.
pub(super) type Ranged<'r> = (&'r Shape, &'r [ValueRange]);

/// The ranges of the arrays that an instruction yields; `None` where they are not tame, or nothing is known.
pub(super) fn ranges(
    computations: &Arena<ComputationId, Computation>,
    op: &Op,
    shape: &Shape,
    operands: &[Ranged<'_>],
) -> Option<Vec<ValueRange>> {
    let found = match op {
        Op::Constant(literal) => constant(literal)?,
        Op::Broadcast { .. }
        | Op::Reshape
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::Copy => operands.first()?.1.to_vec(),
        Op::Tuple => operands.iter().flat_map(|(_, ranges)| ranges.iter().copied()).collect(),
        Op::GetTupleElement { index } => {
            let (tuple, ranges) = operands.first()?;
            let (before, rest) = tuple.as_tuple()?.split_at_checked(usize::try_from(*index).ok()?)?;
            let start: usize = before.iter().map(|element| element.leaves().len()).sum();
            ranges.get(start..start + rest.first()?.leaves().len())?.to_vec()
        }
        Op::Call { to_apply: called } | Op::Fusion { calls: called, .. } => {
            let parameters: Vec<Vec<ValueRange>> = operands.iter().map(|(_, ranges)| ranges.to_vec()).collect();
            computed_ranges(computations, computations.get(*called)?, &parameters)?
        }
        Op::Reduce { dimensions, to_apply } => reduced(computations, dimensions, *to_apply, operands)?,
        _ => vec![array(op, shape, operands)?],
    };
    let leaves = shape.leaves();
    let is_tame = |(leaf, range): (&&Shape, &ValueRange)| match leaf.as_array()?.element_type {
        ElementType::F32 => range.is_tame().then_some(()),
        other => is_exact(other).then_some(()),
    };
    (leaves.len() == found.len() && leaves.iter().zip(&found).all(|pair| is_tame(pair).is_some())).then_some(found)
}

fn constant(literal: &Literal) -> Option<Vec<ValueRange>> {
    if let Data::Tuple(elements) = &literal.data {
        let ranges: Option<Vec<Vec<ValueRange>>> = elements.iter().map(constant).collect();
        return Some(ranges?.concat());
    }
    Some(vec![ValueRange::of(&literal.data, literal.shape.as_array()?.element_type)])
}

/// The range of an array that is computed from arrays.
fn array(op: &Op, shape: &Shape, operands: &[Ranged<'_>]) -> Option<ValueRange> {
    let array = shape.as_array()?;
    let to = array.element_type;
    let ranges: Option<Vec<ValueRange>> = operands.iter().map(|(_, ranges)| ranges.first().copied()).collect();
    let ranges = ranges?;
    let from = operands.first().and_then(|(shape, _)| shape.as_array()).map(|array| array.element_type);
    match (op, &ranges[..]) {
        (Op::Iota { dimension }, []) => {
            let extent = *array.extents.get(usize::try_from(*dimension).ok()?)?;
            let last = (extent - 1).max(0) as f64;
            Some(if to == ElementType::F32 {
                ValueRange::exact(0.0, last, 0)
            } else {
                ValueRange::integers(to, 0.0, last)
            })
        }
        (Op::Bitcast, &[of]) if from == Some(to) => Some(of),
        // The bits of a zero may lose their sign, and those of any integer may be a NaN.
        (Op::Bitcast | Op::BitcastConvert, [_]) => (is_exact(from?) && is_exact(to)).then(|| ValueRange::any(to)),
        (Op::Concatenate { .. } | Op::Pad { .. } | Op::Clamp, all) => all.iter().copied().reduce(ValueRange::join),
        (Op::Select, &[_, on_true, on_false]) => Some(on_true.join(on_false)),
        (Op::Unary(op), &[of]) if from == Some(ElementType::F32) => unary(*op, of),
        (Op::Unary(op), &[_]) => Some(match op {
            UnaryOp::PopulationCount | UnaryOp::CountLeadingZeros => ValueRange::integers(to, 0.0, from?.bits().into()),
            _ => ValueRange::any(to),
        }),
        (Op::Binary(op), &[left, right]) if to == ElementType::F32 => binary(*op, left, right),
        (Op::Binary(op), &[left, right]) => Some(match op {
            BinaryOp::Add if to != ElementType::Pred => {
                ValueRange::integers(to, left.low + right.low, left.high + right.high)
            }
            BinaryOp::Subtract if to != ElementType::Pred => {
                ValueRange::integers(to, left.low - right.high, left.high - right.low)
            }
            BinaryOp::Maximum | BinaryOp::Minimum => left.join(right),
            _ => ValueRange::any(to),
        }),
        (Op::Compare { order, .. }, &[left, right]) => {
            // An implementation may lose the sign of a zero, which the order of all floats tells.
            let is_decided = from != Some(ElementType::F32)
                || (left.grain.is_some() && right.grain.is_some() && *order != Some(ComparisonType::TotalOrder));
            is_decided.then(|| ValueRange::any(to))
        }
        (Op::Convert, &[of]) => convert(from?, to, of),
        _ => None,
    }
}

fn convert(from: ElementType, to: ElementType, of: ValueRange) -> Option<ValueRange> {
    match (from, to) {
        (ElementType::F32, ElementType::F32) => Some(of),
        (ElementType::F32, _) => {
            of.grain?;
            // Towards zero; below the least number of a type, at that number.
            Some(ValueRange::integers(to, of.low.trunc(), of.high.trunc()))
        }
        (_, ElementType::F32) => (of.bound() <= 4096.0).then(|| ValueRange::exact(of.low, of.high, 0)),
        _ => Some(ValueRange::integers(to, of.low, of.high)),
    }
}

/// A function of `f32`, where it is smooth.
fn unary(op: UnaryOp, of: ValueRange) -> Option<ValueRange> {
    let ValueRange { low, high, error, grain } = of;
    let bound = of.bound();
    let between = |low: f64, high: f64, slope: f64| ValueRange::rounded(low, high, slope * error);
    // What grows with its operand.
    let rising = |of: fn(f64) -> f64, slope: f64| between(of(low), of(high), slope);
    Some(match op {
        UnaryOp::Abs => {
            let least = if low > 0.0 { low } else { (-high).max(0.0) };
            ValueRange { low: least, high: bound, ..of }
        }
        UnaryOp::Negate => ValueRange { low: -high, high: -low, ..of },
        UnaryOp::IsFinite => ValueRange::any(ElementType::Pred),
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::RoundNearestAfz | UnaryOp::RoundNearestEven => {
            grain?;
            ValueRange::exact(low.floor(), high.ceil(), 0)
        }
        UnaryOp::Sign => {
            grain?;
            ValueRange::exact(-1.0, 1.0, 0)
        }
        UnaryOp::Tanh => between(-1.0, 1.0, 1.0),
        UnaryOp::Erf => between(-1.0, 1.0, 1.2),
        UnaryOp::Logistic => between(0.0, 1.0, 0.3),
        UnaryOp::Asinh => between(libm::asinh(low).min(-1.0), libm::asinh(high).max(1.0), 1.0),
        UnaryOp::Sine | UnaryOp::Cosine if bound <= 64.0 => between(-1.0, 1.0, 1.0),
        UnaryOp::Exponential if bound <= 4.0 => between(libm::exp(low), libm::exp(high), libm::exp(bound)),
        UnaryOp::ExponentialMinusOne | UnaryOp::Sinh | UnaryOp::Cosh if bound <= 4.0 => {
            between(-libm::exp(bound), libm::exp(bound), libm::exp(bound))
        }
        UnaryOp::Sqrt if low >= 0.25 => rising(f64::sqrt, 1.0),
        UnaryOp::Cbrt if low >= 0.5 => rising(libm::cbrt, 1.0),
        UnaryOp::Rsqrt if low >= 0.25 => between(high.sqrt().recip(), 2.0, 4.0),
        UnaryOp::Log if low >= 0.25 => between(-1.4, libm::log(high).max(1.4), 4.0),
        UnaryOp::LogPlusOne if low >= 0.25 => rising(libm::log1p, 1.0),
        UnaryOp::Acosh if low >= 1.5 => rising(libm::acosh, 1.0),
        UnaryOp::Acos | UnaryOp::Asin | UnaryOp::Atanh if bound <= 0.75 => between(-3.0, 3.0, 2.5),
        UnaryOp::Tan if bound <= 1.0 => between(-1.6, 1.6, 3.5),
        _ => return None,
    })
}

/// A function of two `f32`, where it is smooth.
fn binary(op: BinaryOp, left: ValueRange, right: ValueRange) -> Option<ValueRange> {
    let (a, b) = (left.bound(), right.bound());
    let grains = left.grain.zip(right.grain);
    let exact = |low: f64, high: f64, grain: Option<i32>, error: f64| match grain {
        Some(grain) => ValueRange::exact(low, high, grain),
        None => ValueRange::rounded(low, high, error),
    };
    let coarser = grains.map(|(x, y)| x.max(y));
    let sum = left.error + right.error;
    Some(match op {
        BinaryOp::Add => exact(left.low + right.low, left.high + right.high, coarser, sum),
        BinaryOp::Subtract => exact(left.low - right.high, left.high - right.low, coarser, sum),
        BinaryOp::Multiply => {
            let corners = [left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high];
            let low = corners.into_iter().fold(f64::INFINITY, f64::min);
            let high = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
            exact(low, high, grains.map(|(x, y)| x + y), a * right.error + b * left.error)
        }
        BinaryOp::Maximum | BinaryOp::Minimum => left.join(right),
        BinaryOp::Divide if right.low >= 0.5 => {
            ValueRange::rounded(-2.0 * a, 2.0 * a, 2.0 * (left.error + 2.0 * a * right.error))
        }
        BinaryOp::Atan2 if left.low >= 0.5 => ValueRange::rounded(-3.2, 3.2, 2.0 * sum),
        BinaryOp::Power if left.low >= 0.5 && b <= 1.0 => {
            let bound = a.max(2.0);
            ValueRange::rounded(0.0, bound, bound * (2.0 * left.error + libm::log(bound) * right.error))
        }
        BinaryOp::Remainder if right.low >= 1.0 => ValueRange::exact(-a, a, coarser?),
        _ => return None,
    })
}

/// The ranges of what a reduction yields.
fn reduced(
    computations: &Arena<ComputationId, Computation>,
    dimensions: &[i64],
    to_apply: ComputationId,
    operands: &[Ranged<'_>],
) -> Option<Vec<ValueRange>> {
    let (inputs, initials) = operands.split_at(operands.len() / 2);
    let array = inputs.first()?.0.as_array()?;
    let extent = |dimension: &i64| array.extents.get(usize::try_from(*dimension).ok()?).copied();
    let count = dimensions.iter().map(extent).product::<Option<i64>>()? as f64;
    let lane = |(input, initial): (&Ranged<'_>, &Ranged<'_>)| {
        let element_type = input.0.as_array()?.element_type;
        Some((element_type, input.1.first()?.join(*initial.1.first()?)))
    };
    let lanes: Vec<(ElementType, ValueRange)> = inputs.iter().zip(initials).map(lane).collect::<Option<_>>()?;
    combined(computations, to_apply, &lanes, count)
}

/// The ranges of what a computation makes of so many elements of each of these.
fn combined(
    computations: &Arena<ComputationId, Computation>,
    to_apply: ComputationId,
    lanes: &[(ElementType, ValueRange)],
    count: f64,
) -> Option<Vec<ValueRange>> {
    let region = computations.get(to_apply)?;
    let parameters: Vec<Vec<ValueRange>> = lanes.iter().chain(lanes).map(|(_, range)| vec![*range]).collect();
    // What decides between elements has to be known exactly.
    computed_ranges(computations, region, &parameters)?;
    let number = |id: InstrId| match region.instructions[id].op {
        Op::Parameter { number } => usize::try_from(number).ok(),
        _ => None,
    };
    let root = &region.instructions[region.root];
    let of_parameters = || root.operands.iter().enumerate().all(|(at, &operand)| number(operand) == Some(at));
    if let Op::Call { to_apply } = root.op {
        return of_parameters().then(|| combined(computations, to_apply, lanes, count))?;
    }
    let values: Vec<InstrId> = if root.op == Op::Tuple { root.operands.clone() } else { vec![region.root] };
    let lane = |(at, (&(element_type, range), value)): (usize, (&(ElementType, ValueRange), InstrId))| {
        let Instruction { op, operands, .. } = &region.instructions[value];
        // The accumulator and the element of this lane, in whichever order.
        let is_of_lane = |operands: &[InstrId]| match *operands {
            [one, other] => {
                let pair = (number(one), number(other));
                pair == (Some(at), Some(at + lanes.len())) || pair == (Some(at + lanes.len()), Some(at))
            }
            _ => false,
        };
        match op {
            Op::Binary(op) if is_of_lane(operands) && element_type == ElementType::F32 => folded(*op, range, count),
            Op::Binary(BinaryOp::Maximum | BinaryOp::Minimum) if is_of_lane(operands) => Some(range),
            Op::Binary(_) if is_of_lane(operands) => Some(ValueRange::any(element_type)),
            Op::Select if is_of_lane(&operands[1..]) => Some(range),
            _ => None,
        }
    };
    lanes.iter().zip(values).enumerate().map(lane).collect()
}

/// What so many `f32` and an initial value come to, in any order.
fn folded(op: BinaryOp, of: ValueRange, count: f64) -> Option<ValueRange> {
    let (bound, all) = (of.bound(), count + 1.0);
    Some(match op {
        BinaryOp::Add => match of.grain {
            Some(grain) => ValueRange::exact(-all * bound, all * bound, grain),
            None => ValueRange::rounded(-all * bound, all * bound, all * (of.error + count * bound * 1e-7)),
        },
        BinaryOp::Multiply => {
            let bound = libm::pow(bound.max(1.0), all);
            ValueRange::rounded(-bound, bound, all * bound * (of.error + 1e-7))
        }
        BinaryOp::Maximum | BinaryOp::Minimum => of,
        _ => return None,
    })
}
