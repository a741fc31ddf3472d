//! Expansion of triangular-solve, row by row.

use super::counted::counted;
use super::matrices::Matrices;
use crate::ir::{ArrayShape, BinaryOp, ComparisonDirection, InstrId, Instruction, TransposeKind};
use crate::passes::build::Build;
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// Which equations, as the operation's attributes say.
pub(super) struct System {
    pub(super) left_side: bool,
    pub(super) lower: bool,
    pub(super) unit_diagonal: bool,
    pub(super) transpose_a: TransposeKind,
}

/// Every system is brought to a lower triangular matrix on the left of the unknown `x`. Row `i` of it is then
/// `(b[i] - Σ a[i, k] x[k]) / a[i, i]` over all `k < i`.
pub(super) fn expand(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    shape: &ArrayShape,
    system: &System,
) -> Option<Rule> {
    let [a, b] = candidate.operands[..] else { return None };
    if shape.extents.contains(&0) {
        return Some(("where there are no unknowns there is nothing to solve", Rewrite::Value(b)));
    }
    let (mut a, mut b) = (rebuild.matrices(a), rebuild.matrices(b));
    if system.transpose_a == TransposeKind::Adjoint {
        a = rebuild.conjugated(a);
    }
    // x op(a) = b says that op(a)ᵀ xᵀ = bᵀ.
    let is_transposed = (system.transpose_a != TransposeKind::None) == system.left_side;
    if is_transposed {
        a = rebuild.flipped(a);
    }
    if !system.left_side {
        b = rebuild.flipped(b);
    }
    // An upper triangle is a lower one backwards.
    let is_backwards = system.lower == is_transposed;
    if is_backwards {
        a = rebuild.reversed(a, &[1, 2]);
        b = rebuild.reversed(b, &[1]);
    }
    let mut x = substituted(rebuild, a, b, system.unit_diagonal);
    if is_backwards {
        x = rebuild.reversed(x, &[1]);
    }
    if !system.left_side {
        x = rebuild.flipped(x);
    }
    let x = rebuild.converted(x, shape.element_type);
    let x = rebuild.reshaped(x, shape.extents.clone());
    Some(("triangular-solve is a loop over rows", Rewrite::Value(x)))
}

/// The `x` with `a x = b`, of whose `a` the lower triangle is read.
fn substituted(rebuild: &mut Rebuild<'_>, a: InstrId, b: InstrId, unit_diagonal: bool) -> InstrId {
    let ArrayShape { element_type: working, extents, .. } = rebuild.array(b).clone();
    let [batch, order, columns] = extents[..] else { unreachable!("matrices have three dimensions") };
    let start = rebuild.filled(working, 0.0, &extents);
    let [_, _, x] = counted(rebuild, order, [a, b, start], |round, [a, b, x]| {
        let (row, given) = ([batch, 1, order], [batch, 1, columns]);
        // What is not known yet is 0 in x, and so is what it is multiplied by, whatever `a` holds there.
        let (along, everywhere) = (round.along(2, &row), round.everywhere(&row));
        let (zero, number) = (round.zero, round.number);
        let body = &mut round.body;
        let is_known = body.compared(ComparisonDirection::Lt, along, everywhere);
        let factors = body.window(a, &[zero, number, zero], &row);
        let nothing = body.filled(working, 0.0, &row);
        let factors = body.selected(is_known, factors, nothing);
        let right = body.window(b, &[zero, number, zero], &given);
        let mut unknown = body.less_product(right, factors, x, 1);
        if !unit_diagonal {
            let diagonal = body.window(a, &[zero, number, number], &[batch, 1, 1]);
            let diagonal = body.spread(diagonal, &given);
            unknown = body.binary(BinaryOp::Divide, unknown, diagonal);
        }
        [a, b, body.updated(x, unknown, &[zero, number, zero])]
    });
    x
}
