//! Expansion of rng into arithmetic on the words of counters.

use super::build::{Build, Callee};
use super::pass::{Pass, Rewritten};
use super::random_bits::{halves, philox};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::stochastic_convert::{everywhere, floats};
use crate::diagnostic::Diagnostics;
use crate::eval::DRAWING_KEY;
use crate::ir::{
    ArrayShape, BinaryOp, ComparisonDirection, Computation, ElementType, InstrId, Instruction, Module, Op,
    RandomDistribution, Scalar, Shape, Span, UnaryOp,
};

/// Replaces `rng` by a `rng-get-and-update-state` of `u64[]`, the number of the draw, and a `map` over the numbers of its elements, of one
/// computation on scalars in `u32` arithmetic, whose words become numbers of the distribution. Uniform numbers are the same, as long as products are
/// rounded before they are added; normal ones are computed in `f32`, those of `f64` in `f64`, and round differently.
///
/// Arrays of dynamic extents, and of more than 2^31 - 1 elements, stay as they are.
pub struct RandomNumbers;

impl Pass for RandomNumbers {
    fn name(&self) -> &'static str {
        "expand-random-numbers"
    }

    fn about(&self) -> &'static str {
        "writes rng out as arithmetic on the words of counters; rounding of normal numbers differs"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(expand_random_numbers(module, &|_| true))
    }
}

/// As [`RandomNumbers`], but only of elements of types that something computes with.
pub fn expand_random_numbers(module: &Module, computes: &dyn Fn(ElementType) -> bool) -> Rewritten {
    rewrite_module(module, &mut |rebuild, candidate| match candidate.op {
        Op::Rng { distribution } => expand(rebuild, candidate, distribution, computes),
        _ => None,
    })
}

const RULE: &str = "rng computes the words of counters";

fn expand(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    distribution: RandomDistribution,
    computes: &dyn Fn(ElementType) -> bool,
) -> Option<Rule> {
    let [a, b] = candidate.operands[..] else { return None };
    let array = candidate.shape.as_array().filter(|array| array.dynamic.is_empty())?.clone();
    i32::try_from(array.element_count()?).ok()?;
    if !computes(array.element_type) {
        return None;
    }
    let made = match distribution {
        RandomDistribution::Uniform if array.element_type.is_float() => {
            let draw = Draw::new(rebuild, &array);
            uniform(rebuild, &draw, [a, b])?
        }
        RandomDistribution::Uniform => {
            let draw = Draw::new(rebuild, &array);
            integers(rebuild, &draw, [a, b])
        }
        RandomDistribution::Normal => {
            let draw = Draw::new(rebuild, &array);
            normal(rebuild, &draw, [a, b])
        }
        RandomDistribution::Invalid => return None,
    };
    Some((RULE, Rewrite::Value(made)))
}

/// One draw of as many numbers as an array has elements.
struct Draw {
    array: ArrayShape,
    /// How many draws there were before, everywhere.
    number: InstrId,
    /// The number of each element.
    place: InstrId,
}

impl Draw {
    fn new(rebuild: &mut Rebuild<'_>, array: &ArrayShape) -> Self {
        let op = Op::RngGetAndUpdateState { delta: 1 };
        let number = rebuild.add(Shape::scalar(ElementType::U64), op, Vec::new());
        let number = rebuild.broadcast(number, &[], array.extents.clone());
        let place = rebuild.iota(ElementType::U32, vec![array.element_count().unwrap_or(0)], 0);
        let place = rebuild.reshaped(place, array.extents.clone());
        Draw { array: array.clone(), number, place }
    }

    /// Of each element's four words one, or two as a `u64`, the lower one first.
    fn words(&self, rebuild: &mut Rebuild<'_>, words: &[usize]) -> InstrId {
        let region = region(words, rebuild.span());
        let element_type = region.instructions[region.root].shape.as_array().map(|array| array.element_type);
        let to_apply = rebuild.shared_computation(region);
        let op = Op::Map { dimensions: (0..self.array.rank() as i64).collect(), to_apply };
        let shape = Shape::array(element_type.unwrap_or(ElementType::U32), self.array.extents.clone());
        rebuild.add(shape, op, vec![self.number, self.place])
    }

    /// The type that floats are computed in.
    fn real(&self) -> ElementType {
        if self.array.element_type == ElementType::F64 { ElementType::F64 } else { ElementType::F32 }
    }

    /// A scalar of the array's type at every place, in a type.
    fn scalar(&self, rebuild: &mut Rebuild<'_>, scalar: InstrId, element_type: ElementType) -> InstrId {
        let scalar = rebuild.converted(scalar, element_type);
        rebuild.broadcast(scalar, &[], self.array.extents.clone())
    }
}

/// The computation from the number of a draw and that of an element to words of Philox for the counter that they are the halves of.
fn region(chosen: &[usize], span: Span) -> Computation {
    let mut callee = Callee::new("drawn", span);
    let draw = callee.parameter(Shape::scalar(ElementType::U64));
    let place = callee.parameter(Shape::scalar(ElementType::U32));
    let upper = halves(&mut callee, &[draw]);
    let none = callee.scalar(Scalar::U32(0));
    let key = [DRAWING_KEY, DRAWING_KEY >> 32].map(|half| callee.scalar(Scalar::U32(half as u32)));
    let words = philox(&mut callee, key, [place, none, upper[0], upper[1]]);
    let root = match *chosen {
        [lower, upper] => {
            let [lower, upper] = [lower, upper].map(|word| callee.converted(words[word], ElementType::U64));
            let places = callee.scalar(Scalar::U64(32));
            let upper = callee.binary(BinaryOp::ShiftLeft, upper, places);
            callee.binary(BinaryOp::Or, lower, upper)
        }
        _ => words[chosen.first().copied().unwrap_or(0)],
    };
    callee.finish(root)
}

/// The upper bits of words, as many as a real type has places, as fractions of 1.
fn fraction(rebuild: &mut Rebuild<'_>, bits: InstrId) -> InstrId {
    let word = rebuild.element_type(bits);
    let (real, places, dropped) = match word {
        ElementType::U64 => (ElementType::F64, 53, 11u32),
        _ => (ElementType::F32, 24, 8),
    };
    let extents = rebuild.array(bits).extents.clone();
    let dropped = rebuild.scalar(Scalar::from_bits(dropped.into(), word));
    let dropped = rebuild.broadcast(dropped, &[], extents);
    let upper = rebuild.binary(BinaryOp::ShiftRightLogical, bits, dropped);
    let numerator = rebuild.converted(upper, real);
    let unit = everywhere(rebuild, numerator, libm::ldexp(1.0, -places));
    rebuild.binary(BinaryOp::Multiply, numerator, unit)
}

/// `low (1 - u) + high u`, rounded down; `low` where that is no number from there on and less than `high`.
fn uniform(rebuild: &mut Rebuild<'_>, draw: &Draw, ends: [InstrId; 2]) -> Option<InstrId> {
    let (real, to) = (draw.real(), draw.array.element_type);
    let words: &[usize] = if real == ElementType::F64 { &[0, 1] } else { &[0] };
    let bits = draw.words(rebuild, words);
    let u = fraction(rebuild, bits);
    let [low, high] = ends.map(|end| draw.scalar(rebuild, end, real));
    let one = everywhere(rebuild, u, 1.0);
    let rest = rebuild.binary(BinaryOp::Subtract, one, u);
    let (left, right) = (rebuild.binary(BinaryOp::Multiply, low, rest), rebuild.binary(BinaryOp::Multiply, high, u));
    let value = rebuild.binary(BinaryOp::Add, left, right);
    let is_from = rebuild.compared(ComparisonDirection::Le, low, value);
    let is_below = rebuild.compared(ComparisonDirection::Lt, value, high);
    let is_within = rebuild.binary(BinaryOp::And, is_from, is_below);
    let value = rebuild.selected(is_within, value, low);
    if to == real {
        return Some(value);
    }
    let size = rebuild.unary(UnaryOp::Abs, value);
    let [inner, outer] = floats(rebuild, size, to)?;
    let zero = everywhere(rebuild, value, 0.0);
    let is_negative = rebuild.compared(ComparisonDirection::Lt, value, zero);
    let is_between = rebuild.compared(ComparisonDirection::Lt, inner, size);
    let outer = rebuild.unary(UnaryOp::Negate, outer);
    let down = rebuild.selected(is_negative, outer, inner);
    let down = rebuild.selected(is_between, down, value);
    Some(rebuild.converted(down, to))
}

/// `low + floor(u (high - low))` for 64 bits as a fraction `u` of 1; `low` where there is no number from there on and less than `high`.
fn integers(rebuild: &mut Rebuild<'_>, draw: &Draw, ends: [InstrId; 2]) -> InstrId {
    let to = draw.array.element_type;
    let wide = if to.is_signed() { ElementType::S64 } else { ElementType::U64 };
    let is_any = rebuild.compared(ComparisonDirection::Lt, ends[0], ends[1]);
    let [low, high] = ends.map(|end| {
        let end = rebuild.converted(end, wide);
        same_bits(rebuild, end, ElementType::U64)
    });
    let range = rebuild.binary(BinaryOp::Subtract, high, low);
    let none = rebuild.scalar(Scalar::U64(0));
    let range = rebuild.selected(is_any, range, none);
    let bits = draw.words(rebuild, &[0, 1]);
    let range = rebuild.broadcast(range, &[], draw.array.extents.clone());
    let low = rebuild.broadcast(low, &[], draw.array.extents.clone());
    let offset = rebuild.like(bits, ElementType::U64, Op::MultiplyHigh, vec![bits, range]);
    let value = rebuild.binary(BinaryOp::Add, low, offset);
    let value = same_bits(rebuild, value, wide);
    rebuild.converted(value, to)
}

/// The values whose bits are those of others, of a type as wide.
fn same_bits(rebuild: &mut Rebuild<'_>, value: InstrId, element_type: ElementType) -> InstrId {
    if rebuild.element_type(value) == element_type {
        return value;
    }
    rebuild.like(value, element_type, Op::BitcastConvert, vec![value])
}

/// `mean + deviation sqrt(-2 ln u) cos(2 π v)` for two fractions of 1, of which `u` is not zero.
fn normal(rebuild: &mut Rebuild<'_>, draw: &Draw, [mean, deviation]: [InstrId; 2]) -> InstrId {
    let real = draw.real();
    let [u, v] = if real == ElementType::F64 {
        [[0, 1], [2, 3]].map(|words| draw.words(rebuild, &words))
    } else {
        let both = draw.words(rebuild, &[0, 2]);
        let places = rebuild.scalar(Scalar::U64(32));
        let places = rebuild.broadcast(places, &[], draw.array.extents.clone());
        let upper = rebuild.binary(BinaryOp::ShiftRightLogical, both, places);
        [both, upper].map(|words| rebuild.converted(words, ElementType::U32))
    };
    let [u, v] = [u, v].map(|bits| fraction(rebuild, bits));
    let one = everywhere(rebuild, u, 1.0);
    let u = rebuild.binary(BinaryOp::Subtract, one, u);
    let logarithm = rebuild.unary(UnaryOp::Log, u);
    let factor = everywhere(rebuild, logarithm, -2.0);
    let square = rebuild.binary(BinaryOp::Multiply, logarithm, factor);
    let radius = rebuild.unary(UnaryOp::Sqrt, square);
    let turn = everywhere(rebuild, v, std::f64::consts::TAU);
    let angle = rebuild.binary(BinaryOp::Multiply, v, turn);
    let cosine = rebuild.unary(UnaryOp::Cosine, angle);
    let standard = rebuild.binary(BinaryOp::Multiply, radius, cosine);
    let [mean, deviation] = [mean, deviation].map(|scalar| draw.scalar(rebuild, scalar, real));
    let value = rebuild.binary(BinaryOp::Multiply, standard, deviation);
    let value = rebuild.binary(BinaryOp::Add, value, mean);
    rebuild.converted(value, draw.array.element_type)
}
