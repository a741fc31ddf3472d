//! Simplification of reshape, bitcast and copy.

use super::extents::{ascend, differ_in_ones, embedded, moved, numbers, positions, solid};
use super::{array, extents, iota};
use crate::ir::{ArrayShape, InstrId, Instruction, Op, Shape};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn reshape(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    if array(rebuild, operand)?.same_type_and_extents(candidate.shape.as_array()?) {
        return Some(("reshape(x) = x to the same extents", Rewrite::Value(operand)));
    }
    let inner = rebuild.get(operand);
    let source = inner.operands.first().copied();
    match &inner.op {
        Op::Reshape => Some(("reshape(reshape(x)) = reshape(x)", Rewrite::Op(Op::Reshape, vec![source?]))),
        Op::Broadcast { dimensions } => {
            let dimensions = positions(dimensions)?;
            of_broadcast(rebuild, candidate, operand, source?, &dimensions)
        }
        Op::Iota { .. } => iota::reshape(rebuild, candidate, operand),
        _ => None,
    }
}

/// A broadcast under extents that differ in ones is a broadcast, and so is any reshape of copies of a scalar.
fn of_broadcast(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    operand: InstrId,
    source: InstrId,
    dimensions: &[usize],
) -> Option<Rule> {
    let rule = "reshape(broadcast(x)) = broadcast(x)";
    let broadcast = |dimensions: Vec<usize>, source: InstrId| {
        Rewrite::Op(Op::Broadcast { dimensions: numbers(dimensions) }, vec![source])
    };
    let (from, to) = (extents(rebuild, operand)?, &candidate.shape.as_array()?.extents);
    if dimensions.is_empty() {
        return Some((rule, broadcast(Vec::new(), source)));
    }
    if !differ_in_ones(&from, to) {
        return None;
    }
    if let Some(places) = embedded(&from, to) {
        let dimensions = dimensions.iter().map(|&dimension| places.get(dimension).copied()).collect::<Option<_>>()?;
        return Some((rule, broadcast(dimensions, source)));
    }
    // Dimensions of extent 1 disappear; where the operand has some, it loses them first.
    let shape = array(rebuild, source)?.clone();
    let kept = solid(&shape.extents);
    let places: Vec<usize> =
        kept.iter().map(|&dimension| moved(&from, to, *dimensions.get(dimension)?)).collect::<Option<_>>()?;
    if kept.len() == shape.rank() {
        return Some((rule, broadcast(places, source)));
    }
    let kept: Vec<i64> = kept.iter().map(|&dimension| shape.extents[dimension]).collect();
    let smaller = rebuild.add(Shape::array(shape.element_type, kept), Op::Reshape, vec![source]);
    Some(("reshape(broadcast(x)) = broadcast(reshape(x))", broadcast(places, smaller)))
}

/// Between row-major arrays of one type the same bytes are the same elements.
pub(super) fn bitcast(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let (source, target) = (array(rebuild, operand)?, candidate.shape.as_array()?);
    let is_reshape = source.element_type == target.element_type && is_row_major(source) && is_row_major(target);
    is_reshape.then_some(("bitcast(x) = reshape(x) of row-major arrays", Rewrite::Op(Op::Reshape, vec![operand])))
}

fn is_row_major(shape: &ArrayShape) -> bool {
    let is_plain = shape.layout.as_ref().is_none_or(|layout| layout.physical.is_none());
    is_plain && shape.minor_to_major().windows(2).all(|pair| pair[0] > pair[1])
}

/// A copy into the layout that the operand has.
pub(super) fn copy(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let (source, target) = (array(rebuild, operand)?, candidate.shape.as_array()?);
    let physical = |shape: &ArrayShape| shape.layout.as_ref().and_then(|layout| layout.physical.clone());
    if source.minor_to_major() == target.minor_to_major() && physical(source) == physical(target) {
        return Some(("copy(x) = x in the same layout", Rewrite::Value(operand)));
    }
    let inner = rebuild.get(operand);
    let source = *inner.operands.first().filter(|_| inner.op == Op::Copy)?;
    Some(("copy(copy(x)) = copy(x)", Rewrite::Op(Op::Copy, vec![source])))
}

pub(super) fn transpose(rebuild: &mut Rebuild<'_>, candidate: &Instruction, permutation: &[i64]) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let permutation = positions(permutation)?;
    if ascend(&permutation) {
        return Some(("transpose(x) = x in the same order", Rewrite::Value(operand)));
    }
    let from = extents(rebuild, operand)?;
    let solid: Vec<usize> = permutation
        .iter()
        .copied()
        .filter(|&dimension| from.get(dimension).is_some_and(|&extent| extent != 1))
        .collect();
    if ascend(&solid) {
        let reshape = Rewrite::Op(Op::Reshape, vec![operand]);
        return Some(("transpose(x) = reshape(x) that moves ones only", reshape));
    }
    let inner = rebuild.get(operand);
    match &inner.op {
        Op::Transpose { permutation: first } => {
            let first = positions(first)?;
            let composed =
                permutation.iter().map(|&dimension| first.get(dimension).copied()).collect::<Option<Vec<_>>>()?;
            let transpose = Op::Transpose { permutation: numbers(composed) };
            Some(("transpose(transpose(x)) = transpose(x)", Rewrite::Op(transpose, inner.operands.clone())))
        }
        Op::Broadcast { dimensions } => {
            let places = positions(dimensions)?
                .iter()
                .map(|&dimension| permutation.iter().position(|&from| from == dimension))
                .collect::<Option<Vec<_>>>()?;
            let broadcast = Op::Broadcast { dimensions: numbers(places) };
            Some(("transpose(broadcast(x)) = broadcast(x)", Rewrite::Op(broadcast, inner.operands.clone())))
        }
        Op::Iota { .. } => iota::transpose(rebuild, operand, &permutation),
        _ => None,
    }
}

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
