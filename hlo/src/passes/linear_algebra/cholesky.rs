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
    let made = factored(&mut scope, a, lower);
    let none = scope.filled_like(made.factor, f64::NAN);
    let is_definite = made.is_definite(&mut scope);
    let factor = scope.selected_of_each(is_definite, made.factor, none);
    let factor = scope.converted(factor, shape.element_type);
    let factor = scope.reshaped(factor, shape.extents.clone());
    Some(("cholesky is a loop over panels of columns", Rewrite::Value(factor)))
}

/// What there is of a factor.
pub(super) struct Factored {
    /// In one triangle, of that triangle; nothing sensible where there is none.
    pub(super) factor: InstrId,
    /// The order of the first leading minor that is not positive, 0 if all are, of the type of counters: `[batch]`.
    pub(super) minor: InstrId,
}

impl Factored {
    /// For which matrices there is a factor.
    pub(super) fn is_definite(&self, scope: &mut Scope<'_, '_>) -> InstrId {
        let batch = scope.array(self.minor).extents.clone();
        let none = scope.filled_integer(0, &batch);
        scope.compared(ComparisonDirection::Eq, self.minor, none)
    }
}

/// The factor of matrices given by one triangle. The upper factor is the adjoint of the lower one of the adjoint.
pub(super) fn factored(scope: &mut Scope<'_, '_>, a: InstrId, lower: bool) -> Factored {
    if lower {
        return lower_factor(scope, a);
    }
    let adjoint = scope.adjoint(a);
    let made = lower_factor(scope, adjoint);
    Factored { factor: scope.adjoint(made.factor), ..made }
}

/// The lower triangular `l` with `a = l lᴴ`, of whose `a` the lower triangle is read. What `a - l lᴴ` leaves of the columns of a
/// panel, with those of `l` that are known, is factored column by column.
fn lower_factor(scope: &mut Scope<'_, '_>, a: InstrId) -> Factored {
    let [batch, order, _] = scope.extents(a);
    let working = scope.element_type(a);
    let width = width(order);
    let padded = whole(order, width);
    let none = scope.filled_integer(0, &[batch]);
    if padded == width {
        let zero = scope.integer(0);
        return panel(scope, a, zero, none);
    }
    let a = scope.extended_by_ones(a, padded);
    let start = scope.filled(working, 0.0, &[batch, padded, padded]);
    let [_, factor, minor] = scope.counted(padded / width, [a, start, none], |scope, number, [a, l, minor]| {
        let (zero, first) = (scope.integer(0), scope.first_of(number, width));
        // Columns of `l` that are not known yet are 0.
        let rows = scope.window(l, &[zero, first, zero], &[batch, width, padded]);
        let rows = scope.conjugated(rows);
        let given = scope.window(a, &[zero, zero, first], &[batch, padded, width]);
        let rest = scope.less_product(given, l, rows, 2);
        let made = panel(scope, rest, first, minor);
        [a, scope.updated(l, made.factor, &[zero, zero, first]), made.minor]
    });
    Factored { factor: scope.first(factor, &[batch, order, order]), minor }
}

/// The columns of a panel, that starts in column `first`, of the factor; and the first minor that is not positive, as far
/// as is known. Column `j` of it has `√c[j]` on the diagonal and `c[i] / √c[j]` below; the columns behind it lose what is in it.
fn panel(scope: &mut Scope<'_, '_>, rest: InstrId, first: InstrId, minor: InstrId) -> Factored {
    let extents = scope.extents(rest);
    let [batch, order, width] = extents;
    let working = scope.element_type(rest);
    let values = [rest, first, minor];
    let [made, first, minor] = scope.counted(width, values, |scope, number, [rest, first, minor]| {
        let zero = scope.integer(0);
        let step = scope.binary(BinaryOp::Add, first, number);
        let square = scope.window(rest, &[zero, step, number], &[batch, 1, 1]);
        let square = scope.real(square);
        let square = scope.reshaped(square, vec![batch]);
        let nothing = scope.filled(real_type(working), 0.0, &[batch]);
        let is_positive = scope.compared(ComparisonDirection::Gt, square, nothing);
        let (none, one) = (scope.filled_integer(0, &[batch]), scope.integer(1));
        let own = scope.binary(BinaryOp::Add, step, one);
        let own = scope.everywhere(own, &[batch]);
        let found = scope.selected(is_positive, none, own);
        let is_first = scope.compared(ComparisonDirection::Eq, minor, none);
        let minor = scope.selected(is_first, found, minor);
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
        [scope.selected(is_column, column, rest), first, minor]
    });
    let is_lower = scope.triangle(ComparisonDirection::Ge, first, &extents);
    let none = scope.filled(working, 0.0, &extents);
    Factored { factor: scope.selected(is_lower, made, none), minor }
}
