//! Products: dot.

use super::context::{InstructionContext, OperationMaps, index};

/// Dimension numbers of a dot.
pub(super) struct Contraction<'a> {
    pub(super) lhs_batch: &'a [i64],
    pub(super) lhs_contracting: &'a [i64],
    pub(super) rhs_batch: &'a [i64],
    pub(super) rhs_contracting: &'a [i64],
}

impl Contraction<'_> {
    /// The result's dimensions with the dimension of an operand that each is: batch dimensions first, then those of the left
    /// operand, then those of the right. `dropped` are dimensions of the operand that the result does not have, `first` is
    /// the number of the result's dimensions before those.
    pub(super) fn pairs(
        &self,
        context: &InstructionContext<'_>,
        is_left: bool,
        dropped: &[i64],
        first: usize,
    ) -> Vec<(usize, usize)> {
        let (batch, contracting) =
            if is_left { (self.lhs_batch, self.lhs_contracting) } else { (self.rhs_batch, self.rhs_contracting) };
        let rank = context.operand(usize::from(!is_left)).len();
        let bound = || batch.iter().chain(contracting).chain(dropped);
        let free = (0..rank).filter(|&dimension| !bound().any(|&own| index(own) == dimension));
        let before = if is_left { batch.len() } else { context.operand(0).len() - self.lhs_contracting.len() };
        let batch = (first..).zip(batch.iter().map(|&own| index(own)));
        batch.chain((first + before..).zip(free)).collect()
    }
}

/// Contracted dimensions are run over.
pub(super) fn dot(context: &InstructionContext<'_>, contraction: &Contraction<'_>) -> OperationMaps {
    let factor =
        |is_left: bool| context.matched(0, usize::from(!is_left), &contraction.pairs(context, is_left, &[], 0));
    Ok([true, false].map(factor).into())
}
