//! Simplification of select and clamp.

use super::array;
use super::filled::{copies_like, splat};
use super::laws::is_neutral;
use super::number::number;
use crate::ir::{BinaryOp, ElementType, InstrId, Instruction, Op, UnaryOp};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn select(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let &[predicate, on_true, on_false] = &candidate.operands[..] else { return None };
    if on_true == on_false {
        return Some(("select(p, x, x) = x", Rewrite::Value(on_true)));
    }
    let truth = |id: InstrId| splat(rebuild, id).and_then(|value| number(value).integer()).map(|value| value == 1);
    match truth(predicate) {
        Some(true) => return Some(("select(true, x, y) = x", Rewrite::Value(on_true))),
        Some(false) => return Some(("select(false, x, y) = y", Rewrite::Value(on_false))),
        None => {}
    }
    let inner = rebuild.get(predicate);
    if inner.op == Op::Unary(UnaryOp::Not) {
        let operands = vec![*inner.operands.first()?, on_false, on_true];
        return Some(("select(not(p), x, y) = select(p, y, x)", Rewrite::Op(Op::Select, operands)));
    }
    let shape = candidate.shape.as_array()?;
    if shape.element_type == ElementType::Pred && shape.extents == array(rebuild, predicate)?.extents {
        match (truth(on_true), truth(on_false)) {
            (Some(true), Some(false)) => return Some(("select(p, true, false) = p", Rewrite::Value(predicate))),
            (Some(false), Some(true)) => {
                let not = Rewrite::Op(Op::Unary(UnaryOp::Not), vec![predicate]);
                return Some(("select(p, false, true) = not(p)", not));
            }
            _ => {}
        }
    }
    for (position, chosen) in [(1, on_true), (2, on_false)] {
        let inner = rebuild.get(chosen);
        if inner.op == Op::Select && inner.operands.first() == Some(&predicate) {
            let mut operands = candidate.operands.clone();
            operands[position] = inner.operands[position];
            return Some(("select(p, select(p, x, y), z) = select(p, x, z)", Rewrite::Op(Op::Select, operands)));
        }
    }
    None
}

/// `min(max(low, x), high)`.
pub(super) fn clamp(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let &[low, x, high] = &candidate.operands[..] else { return None };
    let inner = rebuild.get(x);
    if inner.op == Op::Clamp && inner.operands.first() == Some(&low) && inner.operands.get(2) == Some(&high) {
        return Some(("clamp(a, clamp(a, x, b), b) = clamp(a, x, b)", Rewrite::Value(x)));
    }
    let (least, greatest) = (splat(rebuild, low), splat(rebuild, high));
    let no_low = least.is_some_and(|c| is_neutral(BinaryOp::Maximum, c));
    let no_high = greatest.is_some_and(|c| is_neutral(BinaryOp::Minimum, c));
    let shape = candidate.shape.as_array()?.clone();
    let mut bounded = |op: BinaryOp, bound: InstrId| {
        let is_scalar = array(rebuild, bound).is_some_and(|bound| bound.rank() == 0);
        let bound = if is_scalar { copies_like(rebuild, shape.element_type, &shape.extents, bound) } else { bound };
        Rewrite::Op(Op::Binary(op), vec![x, bound])
    };
    match (no_low, no_high) {
        (true, true) => Some(("clamp(least, x, greatest) = x", Rewrite::Value(x))),
        (true, false) => Some(("clamp(least, x, b) = minimum(x, b)", bounded(BinaryOp::Minimum, high))),
        // `maximum(low, x)` and `maximum(x, low)` differ for two NaNs alone.
        (false, true) if least.is_some_and(|c| !number(c).is_nan()) => {
            Some(("clamp(a, x, greatest) = maximum(x, a)", bounded(BinaryOp::Maximum, low)))
        }
        _ => {
            let crossed = least.and_then(|c| number(c).integer())? >= greatest.and_then(|c| number(c).integer())?;
            let is_scalar = array(rebuild, high)?.rank() == 0;
            if !crossed {
                return None;
            }
            let rewrite = if is_scalar { super::filled::copies(candidate, high) } else { Rewrite::Value(high) };
            Some(("clamp(b, x, b) = b", rewrite))
        }
    }
}
