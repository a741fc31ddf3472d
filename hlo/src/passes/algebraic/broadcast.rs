//! Simplification of broadcasts.

use super::extents::{ascend, differ_in_ones, embedded, numbers, positions};
use super::filled::copies;
use super::{array, extents, iota};
use crate::ir::{InstrId, Instruction, Op, Shape};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn broadcast(rebuild: &mut Rebuild<'_>, candidate: &Instruction, dimensions: &[i64]) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let dimensions = positions(dimensions)?;
    let shape = candidate.shape.as_array()?;
    let from = extents(rebuild, operand)?;
    if ascend(&dimensions) {
        if from == shape.extents {
            return Some(("broadcast(x) = x to the same extents", Rewrite::Value(operand)));
        }
        if differ_in_ones(&from, &shape.extents) && adds_ones_only(&dimensions, &shape.extents) {
            return Some(("broadcast(x) = reshape(x) along dimensions of extent 1", reshape(operand)));
        }
    } else if dimensions.len() == shape.rank() {
        let permutation = (0..shape.rank()).filter_map(|target| dimensions.iter().position(|&to| to == target));
        let transpose = Op::Transpose { permutation: numbers(permutation) };
        return Some(("broadcast(x) = transpose(x)", Rewrite::Op(transpose, vec![operand])));
    }
    let inner = rebuild.get(operand);
    let source = inner.operands.first().copied();
    let through = |places: &[usize]| -> Option<Rewrite> {
        let composed = places.iter().map(|&place| dimensions.get(place).copied()).collect::<Option<Vec<_>>>()?;
        Some(Rewrite::Op(Op::Broadcast { dimensions: numbers(composed) }, vec![source?]))
    };
    match &inner.op {
        Op::Broadcast { dimensions } => {
            Some(("broadcast(broadcast(x)) = broadcast(x)", through(&positions(dimensions)?)?))
        }
        Op::Reshape => {
            let places = embedded(&array(rebuild, source?)?.extents, &from)?;
            Some(("broadcast(reshape(x)) = broadcast(x) where the reshape adds ones", through(&places)?))
        }
        Op::Transpose { permutation } => {
            let permutation = positions(permutation)?;
            let places: Vec<usize> = (0..from.len())
                .filter_map(|dimension| permutation.iter().position(|&from| from == dimension))
                .collect();
            Some(("broadcast(transpose(x)) = broadcast(x)", through(&places)?))
        }
        Op::Iota { .. } => iota::broadcast(rebuild, operand, &dimensions),
        _ => None,
    }
}

fn reshape(operand: InstrId) -> Rewrite {
    Rewrite::Op(Op::Reshape, vec![operand])
}

/// Whether all extents are 1 that no dimension of the operand is taken to.
fn adds_ones_only(dimensions: &[usize], extents: &[i64]) -> bool {
    (0..extents.len()).all(|dimension| dimensions.contains(&dimension) || extents[dimension] == 1)
}

/// The scalar that an array holds everywhere, where it is made of one.
fn spread(rebuild: &Rebuild<'_>, id: InstrId) -> Option<InstrId> {
    let instruction = rebuild.get(id);
    if !matches!(instruction.op, Op::Broadcast { .. } | Op::Reshape) {
        return None;
    }
    let &[source] = &instruction.operands[..] else { return None };
    (array(rebuild, source)?.rank() == 0).then_some(source)
}

pub(super) fn elementwise(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let shape = candidate.shape.as_array()?;
    if shape.rank() == 0 || candidate.operands.is_empty() || !candidate.op.opcode().is_elementwise() {
        return None;
    }
    let mut scalars = Vec::with_capacity(candidate.operands.len());
    for &operand in &candidate.operands {
        // The predicate of a select and the bounds of a clamp may be scalars already.
        let is_scalar = array(rebuild, operand)?.rank() == 0;
        scalars.push(if is_scalar { operand } else { spread(rebuild, operand)? });
    }
    let scalar = rebuild.add(Shape::scalar(shape.element_type), candidate.op.clone(), scalars);
    Some(("f(broadcast(a), broadcast(b)) = broadcast(f(a, b))", copies(candidate, scalar)))
}
