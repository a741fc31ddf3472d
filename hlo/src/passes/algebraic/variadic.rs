//! Simplification of reductions of several arrays and of those whose computation is more than one operation.

use super::extents::positions;
use super::filled::copies_like;
use super::{array, extents};
use crate::ir::{ArenaId, Computation, ComputationId, ElementType, InstrId, Instruction, Op, Shape};
use crate::passes::build::Build;
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// Computations of at most so many instructions are written out where they are applied once.
const MAX_WRITTEN_OUT: usize = 32;

/// A reduction of several arrays.
pub(super) fn reduce(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::Reduce { dimensions, to_apply } = &candidate.op else { return None };
    let shapes = candidate.shape.as_tuple()?;
    let (inputs, initials) = candidate.operands.split_at(candidate.operands.len() / 2);
    let from = extents(rebuild, *inputs.first()?)?;
    let reduced = positions(dimensions)?;
    if reduced.iter().any(|&dimension| from[dimension] == 0) {
        let mut results = Vec::with_capacity(shapes.len());
        for (shape, &initial) in shapes.iter().zip(initials) {
            let shape = shape.as_array()?;
            results.push(copies_like(rebuild, shape.element_type, &shape.extents, initial));
        }
        return Some(("reduce(empty, c) = broadcast(c)", Rewrite::Op(Op::Tuple, results)));
    }
    if reduced.iter().any(|&dimension| from[dimension] != 1) {
        return None;
    }
    let to = shapes.first()?.as_array()?.extents.clone();
    let results = folded_once(rebuild, *to_apply, initials, inputs, &to)?;
    Some(("reduce(x, c) = f(c, x) along dimensions of extent 1", Rewrite::Op(Op::Tuple, results)))
}

/// What the computation of a reduction makes of the initial values and one element of each input, for results of these extents:
/// its operations, on whole arrays.
pub(super) fn folded_once(
    rebuild: &mut Rebuild<'_>,
    to_apply: ComputationId,
    initials: &[InstrId],
    inputs: &[InstrId],
    to: &[i64],
) -> Option<Vec<InstrId>> {
    let region = rebuild.computations().get(to_apply)?.clone();
    if region.instructions.len() > MAX_WRITTEN_OUT || !is_plain(&region) {
        return None;
    }
    // Every value is taken in the type it has.
    let taken = region.parameters().into_iter().map(|id| scalar_type(&region.instructions[id].shape));
    let given = initials.iter().chain(inputs).map(|&id| Some(array(rebuild, id)?.element_type));
    if !taken.eq(given) {
        return None;
    }
    let mut arguments = Vec::with_capacity(initials.len() + inputs.len());
    for &initial in initials {
        let element_type = array(rebuild, initial)?.element_type;
        arguments.push(copies_like(rebuild, element_type, to, initial));
    }
    arguments.extend(inputs.iter().map(|&input| rebuild.reshaped(input, to.to_vec())));
    let mut image: Vec<InstrId> = Vec::with_capacity(region.instructions.len());
    for instruction in region.instructions.values() {
        let operands: Vec<InstrId> = instruction.operands.iter().map(|operand| image[operand.index()]).collect();
        image.push(match &instruction.op {
            Op::Parameter { number } => *arguments.get(usize::try_from(*number).ok()?)?,
            Op::Constant(literal) => {
                let scalar = rebuild.scalar(literal.splat()?);
                copies_like(rebuild, scalar_type(&instruction.shape)?, to, scalar)
            }
            // It is the root.
            Op::Tuple => return Some(operands),
            op => rebuild.add(Shape::array(scalar_type(&instruction.shape)?, to), op.clone(), operands),
        });
    }
    Some(vec![image[region.root.index()]])
}

/// Whether a computation has elementwise operations of scalars only, and gives one value or a tuple of them at its end.
fn is_plain(region: &Computation) -> bool {
    let last = region.instructions.len().checked_sub(1).map(InstrId::from_index);
    region.instructions.iter().all(|(id, instruction)| match &instruction.op {
        Op::Tuple => id == region.root && Some(id) == last,
        Op::Parameter { .. } => scalar_type(&instruction.shape).is_some(),
        Op::Constant(literal) => literal.splat().is_some() && scalar_type(&instruction.shape).is_some(),
        op => op.opcode().is_elementwise() && scalar_type(&instruction.shape).is_some(),
    })
}

/// The type of a scalar.
fn scalar_type(shape: &Shape) -> Option<ElementType> {
    shape.as_array().filter(|array| array.rank() == 0).map(|array| array.element_type)
}
