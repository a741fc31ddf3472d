//! Tridiagonal systems of equations, by Gaussian elimination with partial pivoting.

use super::matrices::Matrices;
use super::scope::Scope;
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, UnaryOp};
use crate::passes::build::Build;

/// What elimination leaves.
pub(super) struct Solved {
    /// Of the factor that is zero below its diagonal the three diagonals; the farthest one in place of what was below.
    pub(super) bands: [InstrId; 3],
    /// The unknowns.
    pub(super) x: InstrId,
    /// Which pivot, from 1, is zero, or 0: `s32[batch]`; if one is, nothing is solved.
    pub(super) zero: InstrId,
}

/// The unknowns of systems whose matrices are zero but on three diagonals, `[batch, order]` of each; the first element below and the last
/// above stand for none.
pub(super) fn solved(scope: &mut Scope<'_, '_>, [below, diagonal, above]: [InstrId; 3], b: InstrId) -> Solved {
    let [batch, order, columns] = scope.extents(b);
    let working = scope.element_type(b);
    // Behind the last row there is one that nothing is eliminated from, and above what would be multiplied by it there is nothing.
    let longer = [batch, order + 1];
    let last = scope.integer(order - 1);
    let (given_below, given_above) = (below, above);
    let [below, diagonal, above] = [below, diagonal, above].map(|band| scope.extended(band, &longer));
    let is_inner = scope.places(1, ComparisonDirection::Lt, last, &longer);
    let nothing = scope.filled(working, 0.0, &longer);
    let above = scope.selected(is_inner, above, nothing);
    let x = scope.extended(b, &[batch, order + 2, columns]);
    let zero = scope.integer(0);
    let none = scope.everywhere(zero, &[batch]);
    let values = [below, diagonal, above, x, none];
    let [below, diagonal, above, x, zero] = scope.counted(order, values, |scope, step, values| {
        let state = State { bands: [values[0], values[1], values[2]], x: values[3], zero: values[4] };
        let State { bands: [below, diagonal, above], x, zero } = state.eliminated(scope, step, order);
        [below, diagonal, above, x, zero]
    });
    let values = [below, diagonal, above, x];
    let [.., solution] = scope.counted(order, values, |scope, number, [below, diagonal, above, x]| {
        let last = scope.integer(order - 1);
        let row = scope.binary(BinaryOp::Subtract, last, number);
        [below, diagonal, above, substituted(scope, [below, diagonal, above], x, row)]
    });
    let (x, solution) = (scope.first(x, &[batch, order, columns]), scope.first(solution, &[batch, order, columns]));
    let none = scope.filled_integer(0, &[batch]);
    let is_regular = scope.compared(ComparisonDirection::Eq, zero, none);
    let x = scope.selected_of_each(is_regular, solution, x);
    // What stands for none is as it was.
    let [below, diagonal, above] = [below, diagonal, above].map(|band| scope.first(band, &[batch, order]));
    let (first, last) = (scope.integer(0), scope.integer(order - 1));
    let is_first = scope.places(1, ComparisonDirection::Eq, first, &[batch, order]);
    let is_last = scope.places(1, ComparisonDirection::Eq, last, &[batch, order]);
    let below = scope.selected(is_first, given_below, below);
    let above = scope.selected(is_last, given_above, above);
    Solved { bands: [below, diagonal, above], x, zero: scope.converted(zero, ElementType::S32) }
}

/// A system in the course of elimination.
struct State {
    bands: [InstrId; 3],
    x: InstrId,
    zero: InstrId,
}

impl State {
    /// Makes the element below a pivot zero, and keeps in its place what an exchange of rows makes of the second element above the
    /// diagonal.
    fn eliminated(self, scope: &mut Scope<'_, '_>, step: InstrId, order: i64) -> State {
        let [below, diagonal, above] = self.bands;
        let [batch, _, columns] = scope.extents(self.x);
        let (start, one) = (scope.integer(0), scope.integer(1));
        let next = scope.binary(BinaryOp::Add, step, one);
        let at = |scope: &mut Scope<'_, '_>, band: InstrId, place: InstrId| {
            let element = scope.window(band, &[start, place], &[batch, 1]);
            scope.reshaped(element, vec![batch])
        };
        let (pivot, following) = (at(scope, diagonal, step), at(scope, diagonal, next));
        let (first, second) = (at(scope, above, step), at(scope, above, next));
        let other = at(scope, below, next);
        let nothing = scope.filled_like(pivot, 0.0);

        let none = scope.filled_integer(0, &[batch]);
        let is_zero = scope.compared(ComparisonDirection::Eq, pivot, nothing);
        let is_nothing = scope.compared(ComparisonDirection::Eq, other, nothing);
        let is_singular = scope.binary(BinaryOp::And, is_zero, is_nothing);
        let was_regular = scope.compared(ComparisonDirection::Eq, self.zero, none);
        let is_first = scope.binary(BinaryOp::And, was_regular, is_singular);
        let number = scope.everywhere(next, &[batch]);
        let zero = scope.selected(is_first, number, self.zero);
        let is_regular = scope.compared(ComparisonDirection::Eq, zero, none);

        let [own_size, other_size] = [pivot, other].map(|element| scope.sizes(element));
        let is_exchange = scope.compared(ComparisonDirection::Gt, other_size, own_size);
        let is_exchange = scope.binary(BinaryOp::And, is_exchange, is_regular);
        let mut chosen = |yes: InstrId, no: InstrId| scope.selected(is_exchange, yes, no);
        let (large, small) = (chosen(other, pivot), chosen(pivot, other));
        let (near, beside) = (chosen(following, first), chosen(first, following));
        let far = chosen(second, nothing);
        let is_nothing = scope.compared(ComparisonDirection::Eq, small, nothing);
        let one = scope.filled_like(large, 1.0);
        let divisor = scope.selected(is_nothing, one, large);
        let factor = scope.binary(BinaryOp::Divide, small, divisor);
        let product = scope.binary(BinaryOp::Multiply, factor, near);
        let rest = scope.binary(BinaryOp::Subtract, beside, product);
        let product = scope.binary(BinaryOp::Multiply, factor, second);
        let opposite = scope.unary(UnaryOp::Negate, product);
        let second_rest = scope.selected(is_exchange, opposite, second);
        let limit = scope.integer(order - 2);
        let has_far = scope.compared(ComparisonDirection::Lt, step, limit);
        let has_far = scope.everywhere(has_far, &[batch]);
        let far = scope.selected(has_far, far, other);

        let mut kept = |made: InstrId, given: InstrId| scope.selected(is_regular, made, given);
        let [large, rest] = [kept(large, pivot), kept(rest, following)];
        let [near, second_rest] = [kept(near, first), kept(second_rest, second)];
        let far = kept(far, other);
        let diagonal = put(scope, diagonal, [large, rest], step);
        let above = put(scope, above, [near, second_rest], step);
        let far = scope.reshaped(far, vec![batch, 1]);
        let below = scope.updated(below, far, &[start, next]);

        let row = |scope: &mut Scope<'_, '_>, place: InstrId| {
            let row = scope.window(self.x, &[start, place, start], &[batch, 1, columns]);
            scope.reshaped(row, vec![batch, columns])
        };
        let (own, other) = (row(scope, step), row(scope, next));
        let (top, bottom) =
            (scope.selected_of_each(is_exchange, other, own), scope.selected_of_each(is_exchange, own, other));
        let factor = scope.spread(factor, &[batch, columns]);
        let product = scope.binary(BinaryOp::Multiply, factor, top);
        let less = scope.binary(BinaryOp::Subtract, bottom, product);
        let bottom = scope.selected_of_each(is_regular, less, bottom);
        let rows = [top, bottom].map(|row| scope.reshaped(row, vec![batch, 1, columns]));
        let rows = scope.concatenated(rows.to_vec(), 1);
        let x = scope.updated(self.x, rows, &[start, step, start]);
        State { bands: [below, diagonal, above], x, zero }
    }
}

/// The band with two elements replaced.
fn put(scope: &mut Scope<'_, '_>, band: InstrId, elements: [InstrId; 2], place: InstrId) -> InstrId {
    let batch = scope.array(band).extents[0];
    let zero = scope.integer(0);
    let elements = elements.map(|element| scope.reshaped(element, vec![batch, 1]));
    let both = scope.concatenated(elements.to_vec(), 1);
    scope.updated(band, both, &[zero, place])
}

/// The unknowns with those of a row, of which those behind it are known.
fn substituted(scope: &mut Scope<'_, '_>, bands: [InstrId; 3], x: InstrId, row: InstrId) -> InstrId {
    let [far, diagonal, above] = bands;
    let [batch, _, columns] = scope.extents(x);
    let line = [batch, columns];
    let (zero, one) = (scope.integer(0), scope.integer(1));
    let next = scope.binary(BinaryOp::Add, row, one);
    let second = scope.binary(BinaryOp::Add, next, one);
    let at = |scope: &mut Scope<'_, '_>, band: InstrId, place: InstrId| {
        let element = scope.window(band, &[zero, place], &[batch, 1]);
        scope.spread(element, &line)
    };
    let unknowns = |scope: &mut Scope<'_, '_>, place: InstrId| {
        let row = scope.window(x, &[zero, place, zero], &[batch, 1, columns]);
        scope.reshaped(row, line.to_vec())
    };
    let mut rest = unknowns(scope, row);
    for (band, band_place, place) in [(above, row, next), (far, next, second)] {
        let (factor, unknown) = (at(scope, band, band_place), unknowns(scope, place));
        let product = scope.binary(BinaryOp::Multiply, factor, unknown);
        rest = scope.binary(BinaryOp::Subtract, rest, product);
    }
    let pivot = at(scope, diagonal, row);
    let made = scope.binary(BinaryOp::Divide, rest, pivot);
    let made = scope.reshaped(made, vec![batch, 1, columns]);
    scope.updated(x, made, &[zero, row, zero])
}
