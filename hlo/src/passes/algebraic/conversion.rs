//! Simplification of type conversions.

use super::array;
use super::iota::converted_iota;
use super::number::{contains, is_discrete};
use crate::ir::{ElementType, FloatFormat, Instruction, Op};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn convert(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let between = array(rebuild, operand)?.element_type;
    let target = candidate.shape.as_array()?.element_type;
    if between == target {
        return Some(("convert(x) = x to the same type", Rewrite::Value(operand)));
    }
    if let Some(rule) = converted_iota(rebuild, candidate) {
        return Some(rule);
    }
    let inner = rebuild.get(operand);
    if inner.op != Op::Convert {
        return None;
    }
    let source = *inner.operands.first()?;
    let source_type = array(rebuild, source)?.element_type;
    is_passed_through(source_type, between, target)
        .then_some(("convert(convert(x)) = convert(x)", Rewrite::Op(Op::Convert, vec![source])))
}

/// Whether converting `source` to `target` gives what converting to `between` first gives.
fn is_passed_through(source: ElementType, between: ElementType, target: ElementType) -> bool {
    let is_integer = ElementType::is_integer;
    if is_discrete(source) && is_integer(between) && is_integer(target) {
        // Integers wrap around: the lowest bits are those of the source as long as there are enough of them.
        return contains(between, source) || between.bits() >= target.bits();
    }
    if !contains(between, source) {
        return false;
    }
    // Floats saturate where integers wrap around.
    let changes_kind = is_discrete(source) && !is_discrete(between);
    !changes_kind || !is_integer(target) || contains(target, source)
}

/// Rounding to no fewer bits than the type has.
pub(super) fn reduce_precision(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    (exponent_bits, mantissa_bits): (i64, i64),
) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let own = match array(rebuild, operand)?.element_type {
        ElementType::F64 => (11, 52),
        ElementType::F32 => (8, 23),
        ElementType::F16 => (5, 10),
        ElementType::Bf16 => (8, 7),
        _ => return None,
    };
    let keeps_all = exponent_bits >= own.0 && mantissa_bits >= own.1;
    keeps_all.then_some(("reduce-precision(x) = x to the precision of its type", Rewrite::Value(operand)))
}

pub(super) fn bitcast_convert(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let (between, target) = (array(rebuild, operand)?, candidate.shape.as_array()?);
    if between.same_type_and_extents(target) {
        return Some(("bitcast-convert(x) = x to the same type", Rewrite::Value(operand)));
    }
    let inner = rebuild.get(operand);
    if inner.op != Op::BitcastConvert {
        return None;
    }
    let source_id = *inner.operands.first()?;
    let source = array(rebuild, source_id)?;
    let types = [source.element_type, between.element_type, target.element_type];
    let keeps_bits =
        |t: &ElementType| t.is_integer() || matches!(t, ElementType::F32 | ElementType::F64) || is_half(*t);
    if !types.iter().all(keeps_bits) {
        return None;
    }
    if source.same_type_and_extents(target) {
        return Some(("bitcast-convert(bitcast-convert(x)) = x", Rewrite::Value(source_id)));
    }
    let bits = types.map(ElementType::bits);
    (bits[0] == bits[1] || bits[1] == bits[2]).then_some((
        "bitcast-convert(bitcast-convert(x)) = bitcast-convert(x)",
        Rewrite::Op(Op::BitcastConvert, vec![source_id]),
    ))
}

/// Whether all patterns of bits stay as they are while they are elements of this type.
fn is_half(element_type: ElementType) -> bool {
    FloatFormat::of(element_type).is_some_and(|format| format.bits() == 16)
}
