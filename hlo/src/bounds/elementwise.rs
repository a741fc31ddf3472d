//! Bounds of what is computed element by element.

use super::rounding::Rounding;
use super::single;
use super::{Bounded, Run, is_whole, parts, size};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArrayShape, BinaryOp, ComparisonType, Data, ElementType, Instruction, Literal, Op, Shape, UnaryOp};
use num_complex::Complex64;

/// The errors of the array that an elementwise instruction makes; `None` where there is no rule.
pub(super) fn errors(
    run: &Run<'_>,
    instruction: &Instruction,
    shapes: &[&Shape],
    operands: &[&Bounded],
    value: &Literal,
) -> Result<Option<Vec<f64>>, Diagnostics> {
    let (op, shape) = (&instruction.op, &instruction.shape);
    let count = value.data.len().unwrap_or(0);
    let worst = |at: usize| operands.iter().map(|operand| operand.error_at(at)).fold(0.0, f64::max);
    let each = |error: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..count).map(error).collect() };
    let all_whole = is_whole(shape) && shapes.iter().all(|shape| is_whole(shape));
    if op.opcode().is_elementwise() && all_whole && *op != Op::Select {
        return Ok(Some(each(&worst)));
    }
    let result_type = shape.as_array().map(|array| array.element_type);
    let operand_type = shapes.first().and_then(|shape| shape.as_array()).map(|array| array.element_type);
    let units = |_| {
        operand_type.map_or(0.5, |ty| {
            // The magnitude of a complex number is computed as complex numbers are.
            let is_of_result = result_type.is_some_and(is_number) && *op != Op::Unary(UnaryOp::Abs);
            (run.units)(op, if is_of_result { result_type.unwrap_or(ty) } else { ty })
        })
    };
    let inherited = match op {
        Op::Select => {
            let Data::Pred(choices) = &operands[0].value.data else { return Ok(None) };
            return Ok(Some(each(&|at| {
                let (one, other) = (operands[1].error_at(at), operands[2].error_at(at));
                let choice = choices[if choices.len() == 1 { 0 } else { at }];
                match operands[0].error_at(at) == 0.0 {
                    true if choice => one,
                    true => other,
                    false => one.max(other) + apart(operands[1], operands[2], at),
                }
            })));
        }
        Op::Clamp | Op::Complex | Op::Real | Op::Imag => return Ok(Some(each(&worst))),
        Op::Unary(UnaryOp::Negate) => return Ok(Some(each(&worst))),
        Op::Unary(UnaryOp::Abs) if operand_type.is_some_and(ElementType::is_float) => return Ok(Some(each(&worst))),
        Op::Unary(UnaryOp::Abs) => each(&|at| std::f64::consts::SQRT_2 * worst(at)),
        Op::Unary(_) | Op::Convert if operands[0].reals().is_some() => of_one(run, operands[0], op, value)?,
        Op::Convert => each(&worst),
        Op::Binary(binary) if operands[0].reals().is_some() => {
            of_two(run, *binary, op, operands[0], operands[1], value)?
        }
        Op::Binary(binary) => of_complex(*binary, operand_type, operands[0], operands[1], value),
        Op::Compare { order, .. } => match (operands[0].reals(), operands[1].reals()) {
            (Some(left), Some(right)) => {
                let is_total = *order == Some(ComparisonType::TotalOrder);
                return Ok(Some(each(&|at| {
                    let (a, b) = (left[at], right[at]);
                    let (of_a, of_b) = (operands[0].error[at], operands[1].error[at]);
                    let is_exact =
                        of_a == 0.0 && of_b == 0.0 && !(is_total && (a == 0.0 && b == 0.0 || a.is_nan() || b.is_nan()));
                    let is_apart = (a - b).abs() > of_a + of_b
                        || (a.is_nan() || b.is_nan()) && (of_a + of_b).is_finite() && !is_total;
                    if is_exact || is_apart { 0.0 } else { f64::INFINITY }
                })));
            }
            _ => return Ok(Some(each(&worst))),
        },
        Op::ReducePrecision { mantissa_bits, .. } => {
            return Ok(Some(each(&|at| match (worst(at), operands[0].reals()) {
                (error, Some(values)) if error > 0.0 => {
                    // Half a unit of the narrower number, which may be subnormal: nothing smaller than the least normal number of the
                    // type is told apart here.
                    let size = values[at].abs() + error;
                    let rounded = size * libm::exp2(-(*mantissa_bits as f64));
                    let is_large =
                        size < 1e30 && values[at].abs() - error > 1e-30 && operand_type == Some(ElementType::F32);
                    if is_large { error + rounded } else { f64::INFINITY }
                }
                (error, _) => error,
            })));
        }
        // Bits are those of numbers that are known exactly, and of which none is NaN.
        Op::Bitcast | Op::BitcastConvert => {
            let is_known =
                operands[0].is_exact() && (0..operands[0].len()).all(|at| !size(&operands[0].value.data, at).is_nan());
            let is_whole = |ty: Option<ElementType>| ty.is_some_and(|ty| !is_number(ty));
            let is_moved = result_type == operand_type;
            if is_moved {
                return Ok(Some(single::of_errors(
                    op,
                    shape,
                    shapes,
                    &[single::Moved::Errors(&operands[0].error)],
                    run.config,
                )?));
            }
            let is_known = is_known && (is_whole(result_type) || (0..count).all(|at| !size(&value.data, at).is_nan()));
            return Ok(is_known.then(|| vec![0.0; count]));
        }
        _ => return Ok(None),
    };
    Ok(Some(rounded(value, shape, Some(&inherited), units)))
}

fn is_number(ty: ElementType) -> bool {
    ty.is_float() || ty.is_complex()
}

/// The errors of results with what they inherit; `units` in the last place come to it. What is computed of exact numbers to half a unit
/// and is a number of its type is exact.
pub(super) fn rounded(
    value: &Literal,
    shape: &Shape,
    inherited: Option<&[f64]>,
    units: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let count = value.data.len().unwrap_or(0);
    let inherited = |at: usize| inherited.map_or(0.0, |errors| errors[at]);
    let Some(rounding) = shape.as_array().and_then(|array| Rounding::of(array.element_type)) else {
        return (0..count).map(inherited).collect();
    };
    let has = |at: usize| match &value.data {
        Data::F64(values) => rounding.has(values[at]),
        Data::C128(values) => rounding.has(values[at].re) && rounding.has(values[at].im),
        _ => true,
    };
    (0..count)
        .map(|at| {
            let (size, inherited, units) = (size(&value.data, at), inherited(at), units(at));
            match size.is_finite() {
                // Infinities and NaNs of operands that are known well enough are what they are.
                // A product of complex numbers that is too large is an infinity or the difference of two.
                false if rounding.has_specials() && !matches!(value.data, Data::C128(_)) => inherited,
                false => f64::INFINITY,
                true => {
                    let is_exact = inherited == 0.0 && units <= 0.5 && has(at);
                    let error = if is_exact { 0.0 } else { rounding.error(size, inherited, units) };
                    rounding.flushed_parts(parts(&value.data, at), error)
                }
            }
        })
        .collect()
}

/// How far two elements are from one another.
fn apart(one: &Bounded, other: &Bounded, at: usize) -> f64 {
    let position = |of: &Bounded| if of.len() == 1 { 0 } else { at };
    match (&one.value.data, &other.value.data) {
        (Data::F64(a), Data::F64(b)) => (a[position(one)] - b[position(other)]).abs(),
        (Data::C128(a), Data::C128(b)) => {
            let difference = a[position(one)] - b[position(other)];
            difference.re.abs().max(difference.im.abs())
        }
        (a, b) if a.get(position(one)) == b.get(position(other)) => 0.0,
        _ => f64::INFINITY,
    }
}

/// The ends of where numbers lie.
fn ends(operand: &Bounded, values: &[f64]) -> [Vec<f64>; 2] {
    let moved = |sign: f64| -> Vec<f64> {
        // What is not known at all is looked at as it is, and unknown afterwards.
        values
            .iter()
            .zip(&operand.error)
            .map(|(value, error)| if error.is_finite() { value + sign * error } else { *value })
            .collect()
    };
    [moved(-1.0), moved(1.0)]
}

/// An operation on arrays of `f64`, with numbers as its results.
fn applied(run: &Run<'_>, op: &Op, like: &Literal, operands: &[&[f64]]) -> Result<Vec<f64>, Diagnostics> {
    let Some(array) = like.shape.as_array() else { return Ok(Vec::new()) };
    let of_f64 = Shape::Array(ArrayShape::new(ElementType::F64, array.extents.clone()));
    let arrays: Vec<Literal> =
        operands.iter().map(|values| Literal::array(array.extents.clone(), Data::F64(values.to_vec()))).collect();
    let (shapes, arrays): (Vec<&Shape>, Vec<&Literal>) = (vec![&of_f64; operands.len()], arrays.iter().collect());
    let found = single::evaluate(&run.module.computations, op, &like.shape, &shapes, &arrays, run.config)?;
    Ok(found.into_iter().next().map(numbers).unwrap_or_default())
}

/// The elements of an array of real numbers, integers or `pred` as numbers.
fn numbers(array: Literal) -> Vec<f64> {
    crate::eval::converted(&array.data, ElementType::F64)
        .map(|data| match data {
            Data::F64(values) => values,
            _ => Vec::new(),
        })
        .unwrap_or_default()
}

/// How far a value may be from others that are computed of what lies near; equal infinities and NaNs are not apart.
fn reach(value: f64, others: impl Iterator<Item = f64>) -> f64 {
    others
        .map(|other| match value == other || value.is_nan() && other.is_nan() {
            true => 0.0,
            false if value.is_finite() && other.is_finite() => (value - other).abs(),
            false => f64::INFINITY,
        })
        .fold(0.0, f64::max)
}

/// What the errors of the operand make of the result of a function of one number.
fn of_one(run: &Run<'_>, operand: &Bounded, op: &Op, value: &Literal) -> Result<Vec<f64>, Diagnostics> {
    let values = operand.reals().unwrap_or_default();
    let unary = match op {
        Op::Unary(unary) => Some(*unary),
        _ => None,
    };
    if operand.is_exact() {
        return Ok(vec![0.0; values.len()]);
    }
    let of_ends = ends(operand, values);
    let low = applied(run, op, value, &[&of_ends[0]])?;
    let high = applied(run, op, value, &[&of_ends[1]])?;
    let middle = numbers(value.clone());
    Ok((0..values.len())
        .map(|at| {
            let (error, least, greatest) = (operand.error[at], of_ends[0][at], of_ends[1][at]);
            if error == 0.0 {
                return 0.0;
            }
            if !error.is_finite() {
                return f64::INFINITY;
            }
            let of_ends = || reach(middle[at], [low[at], high[at]].into_iter());
            match unary {
                Some(UnaryOp::Sine | UnaryOp::Cosine) => error.min(2.0),
                // Between two poles it rises.
                Some(UnaryOp::Tan) => {
                    let is_between = error < 1.0 && libm::cos(least) * libm::cos(greatest) > 0.0;
                    if is_between { of_ends() } else { f64::INFINITY }
                }
                Some(UnaryOp::IsFinite) => {
                    let has_end = values[at].is_finite() && values[at].abs() + error >= f64::from(f32::MAX);
                    if has_end { f64::INFINITY } else { 0.0 }
                }
                // Where it is least or has a pole.
                Some(UnaryOp::Rsqrt | UnaryOp::Log) if least <= 0.0 => f64::INFINITY,
                Some(UnaryOp::LogPlusOne) if least <= -1.0 => f64::INFINITY,
                // The others rise or fall, or are even and convex: what is furthest lies at an end.
                _ => of_ends(),
            }
        })
        .collect())
}

/// What the errors of the operands make of the result of a function of two numbers.
fn of_two(
    run: &Run<'_>,
    binary: BinaryOp,
    op: &Op,
    left: &Bounded,
    right: &Bounded,
    value: &Literal,
) -> Result<Vec<f64>, Diagnostics> {
    let (Some(a), Some(b)) = (left.reals(), right.reals()) else { return Ok(vec![f64::INFINITY; left.len()]) };
    if left.is_exact() && right.is_exact() {
        return Ok(vec![0.0; a.len()]);
    }
    let ([a0, a1], [b0, b1]) = (ends(left, a), ends(right, b));
    let mut corners = Vec::new();
    for (x, y) in [(&a0, &b0), (&a0, &b1), (&a1, &b0), (&a1, &b1)] {
        corners.push(applied(run, op, value, &[x, y])?);
    }
    let middle = numbers(value.clone());
    Ok((0..a.len())
        .map(|at| {
            let errors = [left.error[at], right.error[at]];
            if errors == [0.0, 0.0] {
                return 0.0;
            }
            let holds_zero = |low: f64, high: f64| low <= 0.0 && high >= 0.0;
            let has_zero = [holds_zero(a0[at], a1[at]), holds_zero(b0[at], b1[at])];
            let is_smooth = match binary {
                BinaryOp::Divide => !has_zero[1],
                BinaryOp::Remainder => {
                    let quotients = [a0[at] / b0[at], a0[at] / b1[at], a1[at] / b0[at], a1[at] / b1[at]];
                    !has_zero[1] && quotients.iter().all(|quotient| quotient.trunc() == quotients[0].trunc())
                }
                // Away from zero it rises or falls in each operand; at it, as a power with an exponent that is known to be positive.
                BinaryOp::Power => {
                    a0[at] > 0.0 || errors[1] == 0.0 && b[at].fract() == 0.0 && (b[at] > 0.0 || !has_zero[0])
                }
                // Not over the origin, nor over the cut.
                BinaryOp::Atan2 => !(has_zero[0] && b0[at] <= 0.0),
                BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Maximum | BinaryOp::Minimum => true,
                _ => false,
            };
            // The function rises or falls in each operand, so that what is furthest lies at a corner.
            match is_smooth && errors.iter().all(|error| error.is_finite()) {
                true => reach(middle[at], corners.iter().map(|corner| corner[at])),
                false => f64::INFINITY,
            }
        })
        .collect())
}

/// What the errors of the operands make of the larger part of a complex result.
fn of_complex(binary: BinaryOp, ty: Option<ElementType>, left: &Bounded, right: &Bounded, value: &Literal) -> Vec<f64> {
    let (Data::C128(a), Data::C128(b), Data::C128(results)) = (&left.value.data, &right.value.data, &value.data) else {
        return vec![f64::INFINITY; value.data.len().unwrap_or(0)];
    };
    (0..a.len())
        .map(|at| {
            let (of_a, of_b) = (left.error[at], right.error[at]);
            if of_a == 0.0 && of_b == 0.0 {
                let is_open = match binary {
                    BinaryOp::Power => !has_known_turn(a[at], b[at]),
                    BinaryOp::Atan2 => is_beside_cut([a[at], b[at]], results[at], ty == Some(ElementType::C128)),
                    _ => false,
                };
                return if is_open { f64::INFINITY } else { 0.0 };
            }
            let sum = |z: Complex64| z.re.abs() + z.im.abs();
            match binary {
                BinaryOp::Add | BinaryOp::Subtract => of_a + of_b,
                BinaryOp::Multiply => sum(a[at]) * of_b + sum(b[at]) * of_a + 2.0 * of_a * of_b,
                _ => f64::INFINITY,
            }
        })
        .collect()
}

/// The largest exponent times logarithm of a base of which an implementation has the exponential: for more it would need more places of the
/// logarithm than twice those that it has of numbers.
const LARGEST_TURN: f64 = 1000.0;

/// Whether a power turns so little that its angle is known. Powers of what has no logarithm are not turned, nor are those without exponents.
fn has_known_turn(base: Complex64, exponent: Complex64) -> bool {
    let is_number = |z: Complex64| z.is_finite() && (z.re != 0.0 || z.im != 0.0);
    let logarithm = libm::log(libm::hypot(base.re, base.im)).abs() + libm::atan2(base.im, base.re).abs();
    let turn = libm::hypot(exponent.re, exponent.im) * logarithm;
    !is_number(base) || !is_number(exponent) || turn <= LARGEST_TURN
}

/// Whether rounding may put the angle of exact numbers on the other side of a cut: where `x + i y` stands against the root of `x^2 + y^2`, by
/// the sign of the scalar product, and where that root has its own cut, by the sign of the square's imaginary part.
fn is_beside_cut([y, x]: [Complex64; 2], angle: Complex64, is_double: bool) -> bool {
    let most = |z: Complex64| z.re.abs().max(z.im.abs());
    let both = most(x).max(most(y));
    if !both.is_finite() || most(x) == 0.0 || most(y) == 0.0 {
        return false;
    }
    let (epsilon, least) =
        if is_double { (4.0 * f64::EPSILON, 1e-300) } else { (4.0 * f64::from(f32::EPSILON), 1e-36) };
    let is_open = |one: f64, other: f64| {
        let (sum, size) = ((one + other).abs(), one.abs() + other.abs());
        size > 0.0 && (sum <= epsilon * size || sum < least)
    };
    let [of_x, of_y] = [x / most(x), y / most(y)];
    if angle.re.abs() > 3.0 && is_open(of_x.re * of_y.re, of_x.im * of_y.im) {
        return true;
    }
    let [of_x, of_y] = [x / both, y / both];
    let sizes = [of_x.re * of_x.re, of_y.re * of_y.re, of_x.im * of_x.im, of_y.im * of_y.im];
    let is_left = sizes[0] + sizes[1] - sizes[2] - sizes[3] <= epsilon;
    is_left && is_open(of_x.re * of_x.im, of_y.re * of_y.im)
}
