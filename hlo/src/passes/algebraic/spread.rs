//! Elementwise operations of scalars that are broadcast: computed on the scalars.

use super::array;
use super::filled::copies;
use crate::ir::{InstrId, Instruction, Op, Shape};
use crate::passes::rebuild::{Rebuild, Rule};

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
