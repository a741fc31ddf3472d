//! Transpositions.

use super::extents::{ascend, numbers, positions};
use super::{extents, iota};
use crate::ir::{Instruction, Op};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

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
