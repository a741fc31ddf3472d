//! Complex numbers that are taken apart and put together.

use super::array;
use crate::ir::{Instruction, Op};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn complex(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let &[real, imaginary] = &candidate.operands[..] else { return None };
    let (real, imaginary) = (rebuild.get(real), rebuild.get(imaginary));
    let is_whole = real.op == Op::Real && imaginary.op == Op::Imag && real.operands == imaginary.operands;
    let whole = *real.operands.first().filter(|_| is_whole)?;
    let is_same = array(rebuild, whole)?.same_type_and_extents(candidate.shape.as_array()?);
    is_same.then_some(("complex(real(z), imag(z)) = z", Rewrite::Value(whole)))
}

/// The real part (0) or the imaginary part (1).
pub(super) fn part(rebuild: &mut Rebuild<'_>, candidate: &Instruction, part: usize) -> Option<Rule> {
    let operand = *candidate.operands.first()?;
    let instruction = rebuild.get(operand);
    if instruction.op == Op::Complex {
        return Some(("real(complex(a, b)) = a", Rewrite::Value(*instruction.operands.get(part)?)));
    }
    let is_real = array(rebuild, operand)?.element_type.is_float();
    (is_real && part == 0).then_some(("real(x) = x", Rewrite::Value(operand)))
}
