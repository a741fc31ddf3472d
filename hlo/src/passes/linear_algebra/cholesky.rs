//! Expansion of cholesky, panel by panel.

use super::matrices::{Matrices, real_type};
use super::panels::{whole, width};
use super::scope::Scope;
use crate::ir::{ArrayShape, BinaryOp, ComparisonDirection, InstrId, Instruction, UnaryOp};
use crate::passes::build::Build;
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

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
    let mut scope = Scope::new(rebuild, *shape.extents.last()?);
    let a = scope.matrices(a);
    let (factor, _) = factored(&mut scope, a, lower);
    let factor = scope.converted(factor, shape.element_type);
    let factor = scope.reshaped(factor, shape.extents.clone());
    Some(("cholesky is a loop over panels of columns", Rewrite::Value(factor)))
}

/// The factor in one triangle, of that triangle, NaN where there is none; and for which matrices there is one. The upper factor is the
/// adjoint of the lower one of the adjoint.
pub(super) fn factored(scope: &mut Scope<'_, '_>, a: InstrId, lower: bool) -> (InstrId, InstrId) {
    if lower {
        return lower_factor(scope, a);
    }
    let adjoint = scope.adjoint(a);
    let (factor, is_definite) = lower_factor(scope, adjoint);
    (scope.adjoint(factor), is_definite)
}

/// The lower triangular `l` with `a = l lᴴ`, of whose `a` the lower triangle is read. What `a - l lᴴ` leaves of the columns of a
/// panel, with those of `l` that are known, is factored column by column.
fn lower_factor(scope: &mut Scope<'_, '_>, a: InstrId) -> (InstrId, InstrId) {
    let [batch, order, _] = scope.extents(a);
    let working = scope.element_type(a);
    let width = width(order);
    let padded = whole(order, width);
    let all = scope.truth(true, batch);
    let (factor, is_definite) = if padded == width {
        let zero = scope.integer(0);
        panel(scope, a, zero, all)
    } else {
        let a = scope.extended_by_ones(a, padded);
        let start = scope.filled(working, 0.0, &[batch, padded, padded]);
        let made = scope.counted(padded / width, [a, start, all], |scope, number, [a, l, is_definite]| {
            let (zero, first) = (scope.integer(0), scope.first_of(number, width));
            // Columns of `l` that are not known yet are 0.
            let rows = scope.window(l, &[zero, first, zero], &[batch, width, padded]);
            let rows = scope.conjugated(rows);
            let given = scope.window(a, &[zero, zero, first], &[batch, padded, width]);
            let rest = scope.less_product(given, l, rows, 2);
            let (made, is_definite) = panel(scope, rest, first, is_definite);
            [a, scope.updated(l, made, &[zero, zero, first]), is_definite]
        });
        (scope.first(made[1], &[batch, order, order]), made[2])
    };
    let none = scope.filled_like(factor, f64::NAN);
    (scope.selected_of_each(is_definite, factor, none), is_definite)
}

/// The columns of a panel, that starts in column `first`, of the factor; and whether the matrices are positive definite, as far
/// as is known. Column `j` of it has `√c[j]` on the diagonal and `c[i] / √c[j]` below; the columns behind it lose what is in it.
fn panel(scope: &mut Scope<'_, '_>, rest: InstrId, first: InstrId, is_definite: InstrId) -> (InstrId, InstrId) {
    let extents = scope.extents(rest);
    let [batch, order, width] = extents;
    let working = scope.element_type(rest);
    let values = [rest, first, is_definite];
    let [made, first, is_definite] = scope.counted(width, values, |scope, number, [rest, first, is_definite]| {
        let zero = scope.integer(0);
        let step = scope.binary(BinaryOp::Add, first, number);
        let square = scope.window(rest, &[zero, step, number], &[batch, 1, 1]);
        let square = scope.real(square);
        let square = scope.reshaped(square, vec![batch]);
        let nothing = scope.filled(real_type(working), 0.0, &[batch]);
        let is_positive = scope.compared(ComparisonDirection::Gt, square, nothing);
        let is_definite = scope.binary(BinaryOp::And, is_definite, is_positive);
        let root = scope.unary(UnaryOp::Sqrt, square);
        let root = scope.spread(root, &extents);

        let column = scope.window(rest, &[zero, zero, number], &[batch, order, 1]);
        let column = scope.reshaped(column, vec![batch, order]);
        let column = scope.broadcast(column, &[0, 1], extents.to_vec());
        let column = scope.scaled(BinaryOp::Divide, column, root);
        let beside = scope.window(rest, &[zero, first, number], &[batch, width, 1]);
        let beside = scope.reshaped(beside, vec![batch, width]);
        let beside = scope.broadcast(beside, &[0, 2], extents.to_vec());
        let beside = scope.scaled(BinaryOp::Divide, beside, root);
        let beside = scope.conjugated(beside);
        let product = scope.binary(BinaryOp::Multiply, column, beside);
        let less = scope.binary(BinaryOp::Subtract, rest, product);

        let is_below = scope.places(1, ComparisonDirection::Gt, step, &extents);
        let is_diagonal = scope.places(1, ComparisonDirection::Eq, step, &extents);
        let is_column = scope.places(2, ComparisonDirection::Eq, number, &extents);
        let is_behind = scope.places(2, ComparisonDirection::Gt, number, &extents);
        let is_behind = scope.binary(BinaryOp::And, is_behind, is_below);
        let root = scope.of_real(working, root);
        let column = scope.selected(is_diagonal, root, column);
        let rest = scope.selected(is_behind, less, rest);
        [scope.selected(is_column, column, rest), first, is_definite]
    });
    let is_lower = scope.triangle(ComparisonDirection::Ge, first, &extents);
    let none = scope.filled(working, 0.0, &extents);
    (scope.selected(is_lower, made, none), is_definite)
}
