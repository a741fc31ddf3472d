//! Simplification of concatenations.

use super::array;
use super::filled::copies;
use crate::ir::{InstrId, Instruction, Op, Shape, SliceDimension};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn concatenate(rebuild: &mut Rebuild<'_>, candidate: &Instruction, dimension: i64) -> Option<Rule> {
    let along = usize::try_from(dimension).ok()?;
    let op = || Op::Concatenate { dimension };
    let operands = &candidate.operands;
    if let &[operand] = &operands[..] {
        return Some(("concatenate(x) = x", Rewrite::Value(operand)));
    }
    let extent = |&id: &InstrId| array(rebuild, id).and_then(|shape| shape.extents.get(along).copied());
    let held: Vec<InstrId> = operands.iter().filter(|id| extent(id) != Some(0)).copied().collect();
    if held.len() < operands.len() && !held.is_empty() {
        return Some(("concatenate(x, empty) = x", Rewrite::Op(op(), held)));
    }
    // An array that others read too would be written twice.
    let is_part = |id: InstrId| {
        matches!(rebuild.get(id).op, Op::Concatenate { dimension: inner } if inner == dimension)
            && rebuild.has_one_use(id)
    };
    if operands.iter().any(|&id| is_part(id)) {
        let flat =
            operands.iter().flat_map(|&id| if is_part(id) { rebuild.get(id).operands.clone() } else { vec![id] });
        let flat: Vec<InstrId> = flat.collect();
        return Some(("concatenate(concatenate(x, y), z) = concatenate(x, y, z)", Rewrite::Op(op(), flat)));
    }
    if let Some(rule) = of_copies(rebuild, candidate) {
        return Some(rule);
    }
    adjacent(rebuild, candidate, dimension, along)
}

/// Copies of one scalar.
fn of_copies(rebuild: &Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let scalar = |&id: &InstrId| {
        let instruction = rebuild.get(id);
        let is_moved = matches!(instruction.op, Op::Broadcast { .. } | Op::Reshape);
        let source = *instruction.operands.first().filter(|_| is_moved)?;
        (array(rebuild, source)?.rank() == 0).then_some(source)
    };
    let first = scalar(candidate.operands.first()?)?;
    let is_one = candidate.operands.iter().all(|id| scalar(id) == Some(first));
    is_one.then_some(("concatenate(broadcast(c), broadcast(c)) = broadcast(c)", copies(candidate, first)))
}

/// Slices of one array that follow each other are one slice.
fn adjacent(rebuild: &mut Rebuild<'_>, candidate: &Instruction, dimension: i64, along: usize) -> Option<Rule> {
    let mut operands: Vec<InstrId> = Vec::with_capacity(candidate.operands.len());
    // The source and the parts of the last run of slices, and how many slices that is.
    let mut runs: Vec<Option<Run>> = Vec::with_capacity(candidate.operands.len());
    for &operand in &candidate.operands {
        let next = Run::of(rebuild, operand);
        let joined =
            runs.last().and_then(Option::as_ref).zip(next.as_ref()).and_then(|(run, next)| run.joined(next, along));
        match joined {
            Some(run) => {
                runs.pop();
                runs.push(Some(run));
            }
            None => {
                operands.push(operand);
                runs.push(next);
            }
        }
    }
    if operands.len() == candidate.operands.len() {
        return None;
    }
    let rule = "concatenate(slice(x), slice(x)) = slice(x) of neighbors";
    let shape = candidate.shape.as_array()?;
    if let (&[_], [Some(run)]) = (&operands[..], &runs[..]) {
        return Some((rule, Rewrite::Op(Op::Slice { dimensions: run.parts.clone() }, vec![run.source])));
    }
    for (operand, run) in operands.iter_mut().zip(runs) {
        let Some(run) = run.filter(|run| run.slices > 1) else { continue };
        let mut extents = shape.extents.clone();
        *extents.get_mut(along)? = run.parts.get(along)?.limit - run.parts.get(along)?.start;
        let slice = Op::Slice { dimensions: run.parts };
        *operand = rebuild.add(Shape::array(shape.element_type, extents), slice, vec![run.source]);
    }
    Some((rule, Rewrite::Op(Op::Concatenate { dimension }, operands)))
}

/// Slices of one array, one after the other.
struct Run {
    source: InstrId,
    parts: Vec<SliceDimension>,
    slices: usize,
}

impl Run {
    fn of(rebuild: &Rebuild<'_>, id: InstrId) -> Option<Self> {
        let instruction = rebuild.get(id);
        let Op::Slice { dimensions } = &instruction.op else { return None };
        Some(Run { source: *instruction.operands.first()?, parts: dimensions.clone(), slices: 1 })
    }

    /// Both as one slice, if the next begins where this one ends.
    fn joined(&self, next: &Run, along: usize) -> Option<Run> {
        let is_same = |(dimension, (a, b)): (usize, (&SliceDimension, &SliceDimension))| {
            if dimension == along { a.limit == b.start && a.stride == 1 && b.stride == 1 } else { a == b }
        };
        if self.source != next.source || !self.parts.iter().zip(&next.parts).enumerate().all(is_same) {
            return None;
        }
        let mut parts = self.parts.clone();
        parts.get_mut(along)?.limit = next.parts.get(along)?.limit;
        Some(Run { source: self.source, parts, slices: self.slices + 1 })
    }
}
