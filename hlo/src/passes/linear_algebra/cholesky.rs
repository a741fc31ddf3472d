//! Expansion of cholesky, column by column.

use super::counted::counted;
use super::matrices::{Matrices, real_type};
use crate::ir::{ArrayShape, BinaryOp, ComparisonDirection, InstrId, Instruction, Op, Scalar, UnaryOp};
use crate::passes::build::Build;
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// The upper factor is the adjoint of the lower one of the adjoint.
pub(super) fn expand(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    shape: &ArrayShape,
    lower: bool,
) -> Option<Rule> {
    let a = *candidate.operands.first()?;
    if shape.extents.contains(&0) {
        return Some(("the factor of nothing is nothing", Rewrite::Value(a)));
    }
    let mut a = rebuild.matrices(a);
    if !lower {
        a = adjoint(rebuild, a);
    }
    let mut factor = factored(rebuild, a);
    if !lower {
        factor = adjoint(rebuild, factor);
    }
    let factor = rebuild.converted(factor, shape.element_type);
    let factor = rebuild.reshaped(factor, shape.extents.clone());
    Some(("cholesky is a loop over columns", Rewrite::Value(factor)))
}

fn adjoint(rebuild: &mut Rebuild<'_>, matrices: InstrId) -> InstrId {
    let flipped = rebuild.flipped(matrices);
    rebuild.conjugated(flipped)
}

/// The lower triangular `l` with `a = l lᴴ`, of whose `a` the lower triangle is read. Of `c = a[·, j] - Σ l[·, k] conj(l[j, k])`
/// over all `k < j`, column `j` of it has `√c[j]` on the diagonal and `c[i] / √c[j]` below.
fn factored(rebuild: &mut Rebuild<'_>, a: InstrId) -> InstrId {
    let ArrayShape { element_type: working, extents, .. } = rebuild.array(a).clone();
    let [batch, order, _] = extents[..] else { unreachable!("matrices have three dimensions") };
    let start = rebuild.filled(working, 0.0, &extents);
    let yes = rebuild.scalar(Scalar::Pred(true));
    let all = rebuild.broadcast(yes, &[], vec![batch]);
    let [_, factor, is_definite] = counted(rebuild, order, [a, start, all], |round, [a, l, is_definite]| {
        let column = [batch, order, 1];
        let (along, everywhere) = (round.along(1, &column), round.everywhere(&column));
        let (zero, number) = (round.zero, round.number);
        let body = &mut round.body;
        // Columns of `l` that are not known yet are 0.
        let row = body.window(l, &[zero, number, zero], &[batch, 1, order]);
        let row = body.conjugated(row);
        let given = body.window(a, &[zero, zero, number], &column);
        let rest = body.less_product(given, l, row, 2);
        let square = body.window(rest, &[zero, number, zero], &[batch, 1, 1]);
        let mut square = body.reshaped(square, vec![batch]);
        if working.is_complex() {
            square = body.like(square, real_type(working), Op::Real, vec![square]);
        }
        let nothing = body.filled(real_type(working), 0.0, &[batch]);
        let is_positive = body.compared(ComparisonDirection::Gt, square, nothing);
        let is_definite = body.binary(BinaryOp::And, is_definite, is_positive);
        let mut diagonal = body.unary(UnaryOp::Sqrt, square);
        if working.is_complex() {
            diagonal = body.like(diagonal, working, Op::Complex, vec![diagonal, nothing]);
        }
        let diagonal = body.spread(diagonal, &column);
        let below = body.binary(BinaryOp::Divide, rest, diagonal);
        let is_below = body.compared(ComparisonDirection::Gt, along, everywhere);
        let is_diagonal = body.compared(ComparisonDirection::Eq, along, everywhere);
        let above = body.filled(working, 0.0, &column);
        let upper = body.selected(is_diagonal, diagonal, above);
        let made = body.selected(is_below, below, upper);
        [a, body.updated(l, made, &[zero, zero, number]), is_definite]
    });
    let is_definite = rebuild.spread(is_definite, &extents);
    let none = rebuild.filled(working, f64::NAN, &extents);
    rebuild.selected(is_definite, factor, none)
}
