//! Expansion of stochastic-convert into a choice between two neighbors.

use super::bitcast_widths::unsigned;
use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{
    BinaryOp, ComparisonDirection, ElementType, FloatFormat, InstrId, Instruction, Module, Op, Scalar, UnaryOp,
};

/// Replaces `stochastic-convert` by a choice between the two numbers of the result's type about each number, computed in `f32`, or in `f64` where
/// the numbers are of 64 bits. What no two neighbors enclose is converted. The results are the same.
///
/// Arrays of dynamic extents stay as they are.
pub struct StochasticConvert;

impl Pass for StochasticConvert {
    fn name(&self) -> &'static str {
        "expand-stochastic-convert"
    }

    fn about(&self) -> &'static str {
        "writes stochastic-convert out as a choice between neighbors"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::StochasticConvert => expand(rebuild, candidate),
            _ => None,
        }))
    }
}

const RULE: &str = "stochastic-convert chooses between neighbors";

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let [operand, random] = candidate.operands[..] else { return None };
    let array = candidate.shape.as_array().filter(|array| array.dynamic.is_empty())?;
    let (to, from) = (array.element_type, rebuild.element_type(operand));
    let is_wide = from.bits() == 64;
    if matches!(to, ElementType::F32 | ElementType::F64) && !is_wide || to == from {
        return Some((RULE, Rewrite::Op(Op::Convert, vec![operand])));
    }
    let (real, word) = match is_wide {
        true => (ElementType::F64, ElementType::U64),
        false => (ElementType::F32, ElementType::U32),
    };
    let number = rebuild.converted(operand, real);
    let size = rebuild.unary(UnaryOp::Abs, number);
    let [low, high] = match to.is_integer() {
        true => integers(rebuild, size),
        false => floats(rebuild, size, to)?,
    };
    let above = rebuild.compared(ComparisonDirection::Lt, low, size);
    let below = rebuild.compared(ComparisonDirection::Lt, size, high);
    let is_finite = rebuild.like(high, ElementType::Pred, Op::Unary(UnaryOp::IsFinite), vec![high]);
    let is_between = rebuild.binary(BinaryOp::And, above, below);
    let is_between = rebuild.binary(BinaryOp::And, is_between, is_finite);
    // The part of the way to the upper neighbor, in units of the random number's last place.
    let (gone, way) = (rebuild.binary(BinaryOp::Subtract, size, low), rebuild.binary(BinaryOp::Subtract, high, low));
    let part = rebuild.binary(BinaryOp::Divide, gone, way);
    let units = everywhere(rebuild, part, (1u128 << from.bits()) as f64);
    let part = rebuild.binary(BinaryOp::Multiply, part, units);
    let limit = rebuild.converted(part, word);
    let random = rebuild.converted(random, word);
    let is_up = rebuild.compared(ComparisonDirection::Lt, random, limit);
    let taken = rebuild.selected(is_up, high, low);
    let zero = everywhere(rebuild, number, 0.0);
    let is_negative = rebuild.compared(ComparisonDirection::Lt, number, zero);
    let negated = rebuild.unary(UnaryOp::Negate, taken);
    let taken = rebuild.selected(is_negative, negated, taken);
    let value = rebuild.selected(is_between, taken, number);
    Some((RULE, Rewrite::Op(Op::Convert, vec![value])))
}

/// An array like another of copies of a number.
pub(super) fn everywhere(rebuild: &mut Rebuild<'_>, like: InstrId, value: f64) -> InstrId {
    let array = rebuild.array(like).clone();
    let scalar = match array.element_type {
        ElementType::F64 => Scalar::F64(value),
        _ => Scalar::F32(value as f32),
    };
    let value = rebuild.scalar(scalar);
    rebuild.broadcast(value, &[], array.extents)
}

/// The integers about a magnitude; both beyond it, or the first it, where it is one itself.
fn integers(rebuild: &mut Rebuild<'_>, size: InstrId) -> [InstrId; 2] {
    let low = rebuild.unary(UnaryOp::Floor, size);
    let one = everywhere(rebuild, low, 1.0);
    [low, rebuild.binary(BinaryOp::Add, low, one)]
}

/// The numbers of a type about a magnitude: what is nearest, and what is next on the other side.
pub(super) fn floats(rebuild: &mut Rebuild<'_>, size: InstrId, to: ElementType) -> Option<[InstrId; 2]> {
    let real = rebuild.element_type(size);
    let nearest = rebuild.converted(size, to);
    let near = rebuild.converted(nearest, real);
    let is_over = rebuild.compared(ComparisonDirection::Gt, near, size);
    let other = match unsigned(to.bits()) {
        Some(word) => {
            let next = next_bits(rebuild, nearest, word, 1, is_over);
            rebuild.converted(next, real)
        }
        None => next_in_steps(rebuild, near, is_over, FloatFormat::of(to)?)?,
    };
    Some([rebuild.selected(is_over, other, near), rebuild.selected(is_over, near, other)])
}

/// The number whose bits, a word of a type, are so much less than a number's, or more where `is_less` does not hold.
fn next_bits(rebuild: &mut Rebuild<'_>, number: InstrId, word: ElementType, by: u128, is_less: InstrId) -> InstrId {
    let bits = rebuild.like(number, word, Op::BitcastConvert, vec![number]);
    let step = rebuild.scalar(Scalar::from_bits(by, word));
    let extents = rebuild.array(bits).extents.clone();
    let step = rebuild.broadcast(step, &[], extents);
    let (less, more) = (rebuild.binary(BinaryOp::Subtract, bits, step), rebuild.binary(BinaryOp::Add, bits, step));
    let next = rebuild.selected(is_less, less, more);
    let ty = rebuild.element_type(number);
    rebuild.like(next, ty, Op::BitcastConvert, vec![next])
}

/// The number of a format next to one of it, that is not negative, as a wider float: the one below, or the one above where `is_below` does not
/// hold. Above the greatest one it is infinite.
fn next_in_steps(rebuild: &mut Rebuild<'_>, near: InstrId, is_below: InstrId, format: FloatFormat) -> Option<InstrId> {
    let real = rebuild.element_type(near);
    let (word, places) = if real == ElementType::F64 { (ElementType::U64, 52u32) } else { (ElementType::U32, 23) };
    let (mantissa_bits, least) = (format.mantissa_bits(), 1 - format.bias());
    // Of normal numbers by their bits in the wider type; below, all steps are equal.
    let of_bits = next_bits(rebuild, near, word, 1 << places.checked_sub(mantissa_bits)?, is_below);
    let step = everywhere(rebuild, near, libm::ldexp(1.0, least - i32::try_from(mantissa_bits).ok()?));
    let (less, more) = (rebuild.binary(BinaryOp::Subtract, near, step), rebuild.binary(BinaryOp::Add, near, step));
    let by_step = rebuild.selected(is_below, less, more);
    let normal = everywhere(rebuild, near, libm::ldexp(1.0, least));
    let is_small = rebuild.compared(ComparisonDirection::Lt, near, normal);
    let is_least = rebuild.compared(ComparisonDirection::Le, near, normal);
    let is_small = rebuild.selected(is_below, is_least, is_small);
    let next = rebuild.selected(is_small, by_step, of_bits);
    let greatest = everywhere(rebuild, near, f64::from(format.max()));
    let is_last = rebuild.compared(ComparisonDirection::Ge, near, greatest);
    let is_above = rebuild.unary(UnaryOp::Not, is_below);
    let is_beyond = rebuild.binary(BinaryOp::And, is_last, is_above);
    let infinity = everywhere(rebuild, near, f64::INFINITY);
    Some(rebuild.selected(is_beyond, infinity, next))
}
