//! Simplification of unary operations that are applied twice.

use super::array;
use super::relation::inverse;
use crate::ir::{ElementType, Instruction, Op, UnaryOp};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn unary(rebuild: &mut Rebuild<'_>, candidate: &Instruction, op: UnaryOp) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let element_type = array(rebuild, operand)?.element_type;
    let inner = rebuild.get(operand);
    let source = inner.operands.first().copied();
    match (op, &inner.op) {
        (UnaryOp::Not, Op::Unary(UnaryOp::Not)) => Some(("not(not(x)) = x", Rewrite::Value(source?))),
        (UnaryOp::Not, Op::Compare { direction, order }) => {
            let &[a, b] = &inner.operands[..] else { return None };
            let direction = inverse(*direction, *order, array(rebuild, a)?.element_type)?;
            let compare = Op::Compare { direction, order: *order };
            Some(("not(a < b) = a >= b", Rewrite::Op(compare, vec![a, b])))
        }
        (UnaryOp::Negate, Op::Unary(UnaryOp::Negate)) if has_negatives(element_type) => {
            Some(("negate(negate(x)) = x", Rewrite::Value(source?)))
        }
        (UnaryOp::Abs, Op::Unary(UnaryOp::Abs)) if !element_type.is_complex() && is_same(rebuild, candidate) => {
            Some(("abs(abs(x)) = abs(x)", Rewrite::Value(operand)))
        }
        (UnaryOp::Abs, Op::Unary(UnaryOp::Negate)) if !element_type.is_complex() && has_negatives(element_type) => {
            Some(("abs(negate(x)) = abs(x)", Rewrite::Op(Op::Unary(UnaryOp::Abs), vec![source?])))
        }
        (UnaryOp::Sign, Op::Unary(UnaryOp::Sign)) if !element_type.is_complex() => {
            Some(("sign(sign(x)) = sign(x)", Rewrite::Value(operand)))
        }
        (outer, Op::Unary(inner)) if rounds(outer) && (outer == *inner || rounds(*inner) && is_wide(element_type)) => {
            Some(("floor(floor(x)) = floor(x)", Rewrite::Value(operand)))
        }
        (outer, Op::Convert) if rounds(outer) && is_wide(element_type) => {
            let is_whole = super::number::is_discrete(array(rebuild, source?)?.element_type);
            is_whole.then_some(("floor(convert(integer)) = convert(integer)", Rewrite::Value(operand)))
        }
        _ => None,
    }
}

/// Whether the operation gives a whole number near its operand.
fn rounds(op: UnaryOp) -> bool {
    matches!(op, UnaryOp::Ceil | UnaryOp::Floor | UnaryOp::RoundNearestAfz | UnaryOp::RoundNearestEven)
}

/// Whether a float has all whole numbers next to its numbers: `f6e2m3fn` has 7.5 and not 8.
fn is_wide(element_type: ElementType) -> bool {
    matches!(element_type, ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64)
}

/// Whether the type has with each number its negative, as far as it has a sign at all: `f8e8m0fnu` has no sign, and the
/// negative of a number is a NaN.
fn has_negatives(element_type: ElementType) -> bool {
    element_type != ElementType::F8E8M0Fnu
}

/// Whether an operation gives what it takes.
fn is_same(rebuild: &Rebuild<'_>, candidate: &Instruction) -> bool {
    let operand = candidate.operands.first().and_then(|&operand| array(rebuild, operand));
    operand.zip(candidate.shape.as_array()).is_some_and(|(a, b)| a.same_type_and_extents(b))
}

pub(super) fn complex(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let &[real, imaginary] = &candidate.operands[..] else { return None };
    let (real, imaginary) = (rebuild.get(real), rebuild.get(imaginary));
    let is_whole = real.op == Op::Real && imaginary.op == Op::Imag && real.operands == imaginary.operands;
    let whole = *real.operands.first().filter(|_| is_whole)?;
    let is_same = array(rebuild, whole)?.same_type_and_extents(candidate.shape.as_array()?);
    is_same.then_some(("complex(real(z), imag(z)) = z", Rewrite::Value(whole)))
}

/// The real part (0) or the imaginary part (1).
pub(super) fn part(rebuild: &mut Rebuild<'_>, candidate: &Instruction, part: usize) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let instruction = rebuild.get(operand);
    if instruction.op == Op::Complex {
        return Some(("real(complex(a, b)) = a", Rewrite::Value(*instruction.operands.get(part)?)));
    }
    let is_real = array(rebuild, operand)?.element_type.is_float();
    (is_real && part == 0).then_some(("real(x) = x", Rewrite::Value(operand)))
}
