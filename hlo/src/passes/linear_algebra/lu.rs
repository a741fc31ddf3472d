//! LU factorization with partial pivoting, panel by panel.

use super::matrices::Matrices;
use super::panels::{whole, width};
use super::scope::Scope;
use super::triangular;
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId};
use crate::passes::build::Build;

/// What elimination leaves.
pub(super) struct Eliminated {
    /// Both factors in one: `u` from the diagonal on, `l` with ones on its diagonal below.
    pub(super) factors: InstrId,
    /// For each step the row, from 1, that was exchanged with the step's own: `s32[batch, steps]`.
    pub(super) pivots: InstrId,
    /// The first step, from 1, whose pivot was zero, 0 if none was: `s32[batch]`.
    pub(super) zero: InstrId,
}

/// Factors matrices with their rows permuted into `l u`. A panel is eliminated column by column; then its exchanges are made in all
/// columns, and those behind it are solved for the rows of the panel and lose a product.
pub(super) fn factored(scope: &mut Scope<'_, '_>, a: InstrId) -> Eliminated {
    let [batch, rows, columns] = scope.extents(a);
    let steps = rows.min(columns);
    let width = width(steps);
    let padded = whole(steps, width);
    let zero = scope.integer(0);
    let none = scope.everywhere(zero, &[batch]);
    let (factors, pivots, first_zero) = if padded == width {
        let made = panel(scope, a, zero, (steps, steps), none);
        (made.factors, made.pivots, made.zero)
    } else {
        let extents = [batch, rows.max(padded), columns.max(padded)];
        let a = scope.extended(a, &extents);
        let pivots = scope.everywhere(zero, &[batch, padded]);
        let [a, pivots, first_zero] = scope.counted(padded / width, [a, pivots, none], |scope, number, values| {
            let [a, pivots, first_zero] = values;
            let (zero, first) = (scope.integer(0), scope.first_of(number, width));
            let given = scope.window(a, &[zero, zero, first], &[batch, extents[1], width]);
            let made = panel(scope, given, first, (width, steps), first_zero);
            let a = scope.lines(a, made.order, 1);
            let a = scope.updated(a, made.factors, &[zero, zero, first]);
            let pivots = scope.updated(pivots, made.pivots, &[zero, first]);
            [eliminated(scope, a, made.factors, first), pivots, made.zero]
        });
        let factors = scope.first(a, &[batch, rows, columns]);
        (factors, scope.first(pivots, &[batch, steps]), first_zero)
    };
    let one = scope.integer(1);
    let ones = scope.everywhere(one, &[batch, steps]);
    let pivots = scope.binary(BinaryOp::Add, pivots, ones);
    Eliminated {
        factors,
        pivots: scope.converted(pivots, ElementType::S32),
        zero: scope.converted(first_zero, ElementType::S32),
    }
}

/// What is right of a panel that starts in column `first`, after elimination by it.
fn eliminated(scope: &mut Scope<'_, '_>, a: InstrId, panel: InstrId, first: InstrId) -> InstrId {
    let [batch, rows, columns] = scope.extents(a);
    let width = scope.extents(panel)[2];
    let working = scope.element_type(a);
    let zero = scope.integer(0);
    let end = scope.integer(width);
    let end = scope.binary(BinaryOp::Add, first, end);
    let within = scope.window(panel, &[zero, first, zero], &[batch, width, width]);
    let given = scope.window(a, &[zero, first, zero], &[batch, width, columns]);
    let solved = triangular::block(scope, within, given, true);
    let beside = [batch, width, columns];
    let is_right = scope.places(2, ComparisonDirection::Ge, end, &beside);
    let made = scope.selected(is_right, solved, given);
    let nothing = scope.filled(working, 0.0, &beside);
    let upper = scope.selected(is_right, solved, nothing);
    let below = [batch, rows, width];
    let is_below = scope.places(1, ComparisonDirection::Ge, end, &below);
    let nothing = scope.filled(working, 0.0, &below);
    let lower = scope.selected(is_below, panel, nothing);
    let rest = scope.less_product(a, lower, upper, 1);
    scope.updated(rest, made, &[zero, first, zero])
}

/// What elimination in a panel leaves.
struct Panel {
    factors: InstrId,
    /// Which row came to be where: `[batch, rows]`.
    order: InstrId,
    /// For each step the row, from 0, that was exchanged with the step's own.
    pivots: InstrId,
    zero: InstrId,
}

/// Eliminates as many columns, from the first on, whose diagonal starts in row `first`; of `steps` in all.
fn panel(
    scope: &mut Scope<'_, '_>,
    a: InstrId,
    first: InstrId,
    (width, steps): (i64, i64),
    first_zero: InstrId,
) -> Panel {
    let extents = scope.extents(a);
    let [batch, rows, columns] = extents;
    let order = scope.along(1, &[batch, rows]);
    let zero = scope.integer(0);
    let pivots = scope.everywhere(zero, &[batch, width]);
    let values = [first, a, order, pivots, first_zero];
    let [_, factors, order, pivots, zero] = scope.counted(width, values, |scope, number, values| {
        let [first, a, order, pivots, first_zero] = values;
        let zero = scope.integer(0);
        let step = scope.binary(BinaryOp::Add, first, number);
        let column = scope.window(a, &[zero, zero, number], &[batch, rows, 1]);
        let column = scope.reshaped(column, vec![batch, rows]);
        let pivot = largest_from(scope, column, step);

        // The rows of the pivot and of the step are exchanged.
        let chosen = scope.lines(a, pivot, 1);
        let own = scope.window(a, &[zero, step, zero], &[batch, 1, columns]);
        let own = scope.reshaped(own, vec![batch, columns]);
        let at_pivot = scope.window(chosen, &[zero, number], &[batch, 1]);
        let at_own = scope.window(own, &[zero, number], &[batch, 1]);
        let chosen = scope.broadcast(chosen, &[0, 2], extents.to_vec());
        let own = scope.broadcast(own, &[0, 2], extents.to_vec());
        let is_step = scope.places(1, ComparisonDirection::Eq, step, &extents);
        let is_pivot = is_line(scope, pivot, &extents);
        let exchanged = scope.selected(is_pivot, own, a);
        let exchanged = scope.selected(is_step, chosen, exchanged);

        // What is below in the pivot's column, as multiples of it.
        let is_pivot = is_line(scope, pivot, &[batch, rows]);
        let own = scope.spread(at_own, &[batch, rows]);
        let below = scope.selected(is_pivot, own, column);
        let divisor = scope.spread(at_pivot, &[batch, rows]);
        let factors = scope.binary(BinaryOp::Divide, below, divisor);
        let factors = scope.broadcast(factors, &[0, 1], extents.to_vec());
        let product = scope.binary(BinaryOp::Multiply, factors, chosen);
        let less = scope.binary(BinaryOp::Subtract, exchanged, product);

        let at_pivot = scope.reshaped(at_pivot, vec![batch]);
        let nothing = scope.filled_like(at_pivot, 0.0);
        let is_zero = scope.compared(ComparisonDirection::Eq, at_pivot, nothing);
        let is_below = scope.places(1, ComparisonDirection::Gt, step, &extents);
        let is_column = scope.places(2, ComparisonDirection::Eq, number, &extents);
        let is_right = scope.places(2, ComparisonDirection::Gt, number, &extents);
        let changed = scope.selected(is_column, factors, less);
        let is_changed = scope.binary(BinaryOp::Or, is_column, is_right);
        let is_changed = scope.binary(BinaryOp::And, is_changed, is_below);
        let changed = scope.selected(is_changed, changed, exchanged);
        let a = scope.selected_of_each(is_zero, exchanged, changed);

        let order = exchanged_in(scope, order, pivot, step);
        let at = scope.reshaped(pivot, vec![batch, 1]);
        let pivots = scope.updated(pivots, at, &[zero, number]);
        // Behind the last step there are only zeros.
        let (end, one) = (scope.integer(steps), scope.integer(1));
        let is_step = scope.compared(ComparisonDirection::Lt, step, end);
        let is_step = scope.everywhere(is_step, &[batch]);
        let none = scope.everywhere(zero, &[batch]);
        let is_first = scope.compared(ComparisonDirection::Eq, first_zero, none);
        let is_first = scope.binary(BinaryOp::And, is_first, is_zero);
        let is_first = scope.binary(BinaryOp::And, is_first, is_step);
        let next = scope.binary(BinaryOp::Add, step, one);
        let next = scope.everywhere(next, &[batch]);
        let first_zero = scope.selected(is_first, next, first_zero);
        [first, a, order, pivots, first_zero]
    });
    Panel { factors, order, pivots, zero }
}

/// The place of the largest of numbers `[batch, count]` from one on, the first of equal ones. As in LAPACK nothing is larger than a number
/// there, or less, that is NaN in a part: at the first place it is chosen, elsewhere it is not.
pub(super) fn largest_from(scope: &mut Scope<'_, '_>, numbers: InstrId, step: InstrId) -> InstrId {
    let extents = scope.array(numbers).extents.clone();
    let sizes = scope.sizes(numbers);
    let (nothing, no_number, before) =
        (scope.filled_like(sizes, 0.0), scope.filled_like(sizes, -0.5), scope.filled_like(sizes, -1.0));
    let is_number = scope.compared(ComparisonDirection::Ge, sizes, nothing);
    let is_first = scope.places(1, ComparisonDirection::Eq, step, &extents);
    let infinite = scope.filled_like(sizes, f64::INFINITY);
    let no_number = scope.selected(is_first, infinite, no_number);
    let sizes = scope.selected(is_number, sizes, no_number);
    let is_before = scope.places(1, ComparisonDirection::Lt, step, &extents);
    let sizes = scope.selected(is_before, before, sizes);
    scope.place_of_largest(sizes)
}

/// Whether the index along dimension 1 is that of each of the batch.
fn is_line(scope: &mut Scope<'_, '_>, of_each: InstrId, extents: &[i64]) -> InstrId {
    let along = scope.along(1, extents);
    let of_each = scope.spread(of_each, extents);
    scope.compared(ComparisonDirection::Eq, along, of_each)
}

/// Numbers `[batch, count]` of which that at a place of each and that of the step are exchanged.
pub(super) fn exchanged_in(scope: &mut Scope<'_, '_>, numbers: InstrId, places: InstrId, step: InstrId) -> InstrId {
    let extents = scope.array(numbers).extents.clone();
    let zero = scope.integer(0);
    let chosen = scope.lines(numbers, places, 1);
    let chosen = scope.spread(chosen, &extents);
    let own = scope.window(numbers, &[zero, step], &[extents[0], 1]);
    let own = scope.spread(own, &extents);
    let is_place = is_line(scope, places, &extents);
    let is_step = scope.places(1, ComparisonDirection::Eq, step, &extents);
    let exchanged = scope.selected(is_place, own, numbers);
    scope.selected(is_step, chosen, exchanged)
}
