//! `scaled-dot` as a dot.

use crate::ir::{BinaryOp, ElementType, InstrId, Instruction, Op};
use crate::passes::build::Build;
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::ScaledDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision,
        algorithm,
    } = candidate.op.clone()
    else {
        return None;
    };
    let [left, right, left_scale, right_scale] = candidate.operands[..] else { return None };
    let left = scaled(rebuild, left, left_scale)?;
    let right = scaled(rebuild, right, right_scale)?;
    let op = Op::Dot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision,
        algorithm,
    };
    Some(("scaled-dot is the dot of scaled operands", Rewrite::Op(op, vec![left, right])))
}

/// An operand with its scales multiplied in: each is for a block of elements, a scalar for all; `None` where blocks are not of one
/// size, or elements no floats.
fn scaled(rebuild: &mut Rebuild<'_>, operand: InstrId, scale: InstrId) -> Option<InstrId> {
    let (given, scales) = (rebuild.array(operand).clone(), rebuild.array(scale).clone());
    if !given.element_type.is_float() || !scales.element_type.is_float() || !given.dynamic.is_empty() {
        return None;
    }
    let is_wide = [given.element_type, scales.element_type].contains(&ElementType::F64);
    let working = if is_wide { ElementType::F64 } else { ElementType::F32 };
    let (elements, factors) = (rebuild.converted(operand, working), rebuild.converted(scale, working));
    let factors = match scales.rank() {
        0 => rebuild.broadcast(factors, &[], given.extents),
        _ if given.extents.contains(&0) => return Some(elements),
        _ => {
            let mut blocks = Vec::new();
            for (extent, count) in given.extents.iter().zip(&scales.extents) {
                if *count == 0 || extent % count != 0 {
                    return None;
                }
                blocks.extend([*count, extent / count]);
            }
            let own: Vec<i64> = (0..scales.rank() as i64).map(|dimension| 2 * dimension).collect();
            let spread = rebuild.broadcast(factors, &own, blocks);
            rebuild.reshaped(spread, given.extents)
        }
    };
    Some(rebuild.binary(BinaryOp::Multiply, elements, factors))
}
