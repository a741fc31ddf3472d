//! Expansion of bitcast-convert between widths into shifts.

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{BinaryOp, ElementType, InstrId, Instruction, Module, Op, Scalar, Shape, SliceDimension};

/// Replaces `bitcast-convert` between elements of different widths by shifts of unsigned integers: of a wide element the narrow ones are
/// its bits from places on that an `iota` counts, and a wide element is the disjunction of the narrow ones, moved to their places.
///
/// Widths for which there is no unsigned integer, and arrays of dynamic extents, stay as they are.
pub struct BitcastWidths;

impl Pass for BitcastWidths {
    fn name(&self) -> &'static str {
        "expand-bitcast-convert"
    }

    fn about(&self) -> &'static str {
        "writes bitcast-convert between widths out as shifts"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::BitcastConvert => expand(rebuild, candidate),
            _ => None,
        }))
    }
}

/// The unsigned integer of a width.
pub(super) fn unsigned(bits: u32) -> Option<ElementType> {
    ElementType::ALL.iter().copied().find(|ty| ty.is_unsigned() && ty.bits() == bits)
}

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let [operand] = candidate.operands[..] else { return None };
    let (from, to) = (rebuild.array(operand).clone(), candidate.shape.as_array()?.clone());
    let (given, wanted) = (from.element_type.bits(), to.element_type.bits());
    if given == wanted || !from.dynamic.is_empty() || !to.dynamic.is_empty() {
        return None;
    }
    let (narrow, wide) = (unsigned(given.min(wanted))?, unsigned(given.max(wanted))?);
    let own = unsigned(given)?;
    let bits = rebuild.like(operand, own, Op::BitcastConvert, vec![operand]);
    let value = if given > wanted { parts(rebuild, bits, narrow) } else { whole(rebuild, bits, wide) };
    let value = rebuild.like(value, to.element_type, Op::BitcastConvert, vec![value]);
    Some(("bitcast-convert between widths moves bits", Rewrite::Value(value)))
}

/// The parts of integers, along a new last dimension, the lowest first.
fn parts(rebuild: &mut Rebuild<'_>, bits: InstrId, narrow: ElementType) -> InstrId {
    let array = rebuild.array(bits).clone();
    let count = i64::from(array.element_type.bits() / narrow.bits());
    let own: Vec<i64> = (0..array.rank() as i64).collect();
    let extents = [&array.extents[..], &[count]].concat();
    let wide = rebuild.broadcast(bits, &own, extents.clone());
    let number = rebuild.iota(array.element_type, extents.clone(), array.rank() as i64);
    let width = rebuild.scalar(Scalar::from_bits(narrow.bits().into(), array.element_type));
    let width = rebuild.broadcast(width, &[], extents);
    let places = rebuild.binary(BinaryOp::Multiply, number, width);
    let moved = rebuild.binary(BinaryOp::ShiftRightLogical, wide, places);
    rebuild.converted(moved, narrow)
}

/// The integers whose parts stand along the last dimension, the lowest first.
fn whole(rebuild: &mut Rebuild<'_>, bits: InstrId, wide: ElementType) -> InstrId {
    let array = rebuild.array(bits).clone();
    let (&count, kept) = array.extents.split_last().unwrap_or((&0, &[]));
    let mut sum = None;
    for part in 0..count {
        let whole = kept.iter().map(|&extent| SliceDimension { start: 0, limit: extent, stride: 1 });
        let dimensions = whole.chain([SliceDimension { start: part, limit: part + 1, stride: 1 }]).collect();
        let shape = Shape::array(array.element_type, [kept, &[1]].concat());
        let part_of = rebuild.add(shape, Op::Slice { dimensions }, vec![bits]);
        let part_of = rebuild.reshaped(part_of, kept.to_vec());
        let extended = rebuild.converted(part_of, wide);
        let places = u128::from(array.element_type.bits()) * part.unsigned_abs() as u128;
        let places = rebuild.scalar(Scalar::from_bits(places, wide));
        let places = rebuild.broadcast(places, &[], kept.to_vec());
        let moved = rebuild.binary(BinaryOp::ShiftLeft, extended, places);
        sum = Some(match sum {
            Some(sum) => rebuild.binary(BinaryOp::Or, sum, moved),
            None => moved,
        });
    }
    sum.unwrap_or(bits)
}
