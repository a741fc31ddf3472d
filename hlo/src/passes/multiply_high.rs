//! Expansion of multiply-high into products of wider integers.

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, Instruction, Module, Op, Scalar};

/// Replaces `mulhi` by the product of integers of twice the bits at least, moved down. Of integers of 64 bits, for which there are none, it is
/// put together of the products of their halves. The results are the same.
///
/// Arrays of dynamic extents stay as they are.
pub struct MultiplyHigh;

impl Pass for MultiplyHigh {
    fn name(&self) -> &'static str {
        "expand-multiply-high"
    }

    fn about(&self) -> &'static str {
        "writes multiply-high out as products of wider integers"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::MultiplyHigh => expand(rebuild, candidate),
            _ => None,
        }))
    }
}

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let [a, b] = candidate.operands[..] else { return None };
    let array = candidate.shape.as_array().filter(|array| array.dynamic.is_empty())?;
    let own = array.element_type;
    let wide = match (own.bits(), own.is_signed()) {
        (64, _) => {
            let value = of_halves(rebuild, a, b, own.is_signed());
            let value = rebuild.converted(value, own);
            return Some(("multiply-high is put together of products of halves", Rewrite::Value(value)));
        }
        (17.., true) => ElementType::S64,
        (17.., false) => ElementType::U64,
        (_, true) => ElementType::S32,
        (_, false) => ElementType::U32,
    };
    let [a, b] = [a, b].map(|operand| rebuild.converted(operand, wide));
    let product = rebuild.binary(BinaryOp::Multiply, a, b);
    let places = everywhere(rebuild, product, u64::from(own.bits()));
    let shift = if own.is_signed() { BinaryOp::ShiftRightArithmetic } else { BinaryOp::ShiftRightLogical };
    let upper = rebuild.binary(shift, product, places);
    let value = rebuild.converted(upper, own);
    Some(("multiply-high is a product of wider integers", Rewrite::Value(value)))
}

/// An array like another of copies of an integer.
fn everywhere(rebuild: &mut Rebuild<'_>, like: InstrId, value: u64) -> InstrId {
    let array = rebuild.array(like).clone();
    let value = rebuild.scalar(Scalar::from_bits(u128::from(value), array.element_type));
    rebuild.broadcast(value, &[], array.extents)
}

/// The upper 64 bits of a product, without a sign. `(a + b 2^32) (c + d 2^32)` is `a c + (b c + a d) 2^32 + b d 2^64`; of the middle only as much
/// is added at once as 64 bits hold.
fn of_halves(rebuild: &mut Rebuild<'_>, a: InstrId, b: InstrId, is_signed: bool) -> InstrId {
    let [a, b] = [a, b].map(|operand| rebuild.converted(operand, ElementType::U64));
    let (half, mask) = (everywhere(rebuild, a, 32), everywhere(rebuild, a, u64::from(u32::MAX)));
    let [[a_low, a_high], [b_low, b_high]] = [a, b].map(|operand| {
        let low = rebuild.binary(BinaryOp::And, operand, mask);
        [low, rebuild.binary(BinaryOp::ShiftRightLogical, operand, half)]
    });
    let mut product = |a, b| rebuild.binary(BinaryOp::Multiply, a, b);
    let (low, middle) = (product(a_low, b_low), product(a_high, b_low));
    let (other, high) = (product(a_low, b_high), product(a_high, b_high));
    let carried = rebuild.binary(BinaryOp::ShiftRightLogical, low, half);
    let sum = rebuild.binary(BinaryOp::Add, middle, carried);
    let kept = rebuild.binary(BinaryOp::And, sum, mask);
    let other = rebuild.binary(BinaryOp::Add, other, kept);
    let mut upper = high;
    for part in [sum, other] {
        let moved = rebuild.binary(BinaryOp::ShiftRightLogical, part, half);
        upper = rebuild.binary(BinaryOp::Add, upper, moved);
    }
    if !is_signed {
        return upper;
    }
    // A negative number is 2^64 less than what its bits are without a sign.
    for (negative, taken) in [(a, b), (b, a)] {
        let first = everywhere(rebuild, negative, 1 << 63);
        let is_negative = rebuild.compared(ComparisonDirection::Ge, negative, first);
        let zero = everywhere(rebuild, negative, 0);
        let taken = rebuild.selected(is_negative, taken, zero);
        upper = rebuild.binary(BinaryOp::Subtract, upper, taken);
    }
    upper
}
