//! Mirrored arrays.

use super::extents::{numbers, positions};
use super::{array, extents, iota};
use crate::ir::{Instruction, Op, Shape};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn reverse(rebuild: &mut Rebuild<'_>, candidate: &Instruction, dimensions: &[i64]) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let dimensions = positions(dimensions)?;
    let from = extents(rebuild, operand)?;
    let turned: Vec<usize> =
        dimensions.iter().copied().filter(|&dimension| from.get(dimension).is_some_and(|&extent| extent > 1)).collect();
    if turned.is_empty() {
        return Some(("reverse(x) = x along dimensions of extent 1", Rewrite::Value(operand)));
    }
    let along = |dimensions: Vec<usize>| Op::Reverse { dimensions: numbers(dimensions) };
    if turned.len() < dimensions.len() {
        return Some(("reverse(x) leaves dimensions of extent 1", Rewrite::Op(along(turned), vec![operand])));
    }
    let inner = rebuild.get(operand);
    let source = inner.operands.first().copied();
    match &inner.op {
        Op::Reverse { dimensions: first } => {
            let first = positions(first)?;
            let once = (0..from.len()).filter(|dimension| turned.contains(dimension) != first.contains(dimension));
            let once: Vec<usize> = once.collect();
            let rewrite =
                if once.is_empty() { Rewrite::Value(source?) } else { Rewrite::Op(along(once), vec![source?]) };
            Some(("reverse(reverse(x)) = x", rewrite))
        }
        Op::Broadcast { dimensions } => {
            let broadcast = Op::Broadcast { dimensions: dimensions.clone() };
            let places = positions(dimensions)?;
            let within: Vec<usize> =
                (0..places.len()).filter(|&dimension| turned.contains(&places[dimension])).collect();
            if within.is_empty() {
                return Some(("reverse(broadcast(x)) = broadcast(x)", Rewrite::Value(operand)));
            }
            let shape = array(rebuild, source?)?;
            let shape = Shape::array(shape.element_type, shape.extents.clone());
            let turned = rebuild.add(shape, along(within), vec![source?]);
            Some(("reverse(broadcast(x)) = broadcast(reverse(x))", Rewrite::Op(broadcast, vec![turned])))
        }
        Op::Iota { .. } => iota::reverse(rebuild, operand, &turned),
        _ => None,
    }
}
