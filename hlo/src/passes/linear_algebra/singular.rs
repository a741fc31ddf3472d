//! Singular values, by rotations of columns (Hestenes, 1958) of a triangular factor.

use super::matrices::{Matrices, real_type};
use super::reflections;
use super::rotations::{MAX_SWEEPS, Pairs, Rotation, Unit, ascending, epsilon, least_square, paired};
use super::scope::{Scope, zero_of};
use crate::ir::{BinaryOp, ComparisonDirection, InstrId, Op, UnaryOp};
use crate::passes::build::Build;

/// Singular values, descending; orthonormal columns and rows; LAPACK's `info`.
pub(super) struct Singular {
    pub(super) values: InstrId,
    /// The vectors on the left and on the right, where they are asked for.
    pub(super) vectors: Option<[InstrId; 2]>,
    pub(super) info: InstrId,
}

/// Which vectors are asked for.
#[derive(Copy, Clone, PartialEq)]
pub(super) enum Vectors {
    None,
    /// As many as there are values.
    Some,
    /// As many as there are rows on the left, and columns on the right.
    All,
}

/// Values and vectors of matrices. Of `a = q r` the columns of `rᴴ` are rotated until they are orthogonal to each other: their lengths
/// are the values then, their directions the vectors on the right, and `q` times the product of the rotations those on the left.
pub(super) fn decomposed(scope: &mut Scope<'_, '_>, a: InstrId, vectors: Vectors) -> Singular {
    let [_, rows, columns] = scope.extents(a);
    if rows < columns {
        let adjoint = scope.adjoint(a);
        let made = decomposed(scope, adjoint, vectors);
        let turned = made.vectors.map(|[left, right]| [scope.adjoint(right), scope.adjoint(left)]);
        return Singular { vectors: turned, ..made };
    }
    let unit = Unit::of(scope, a);
    let Rotated { triangle, turns, is_settled, reflected } = rotated(scope, unit.scaled, vectors != Vectors::None);
    let lengths = {
        let squares = scope.squares(triangle);
        let squares = scope.summed(squares, &[1]);
        scope.unary(UnaryOp::Sqrt, squares)
    };
    let opposite = scope.unary(UnaryOp::Negate, lengths);
    let order = ascending(scope, opposite);
    let lengths = scope.lines(lengths, order, 1);
    let values = unit.undone(scope, lengths);
    let values = unit.found(scope, is_settled, values);
    let info = unit.info(scope, is_settled);
    let Some(turns) = turns else { return Singular { values, vectors: None, info } };
    let (turns, triangle) = (scope.lines(turns, order, 2), scope.lines(triangle, order, 2));
    let right = directions(scope, triangle, lengths);
    let right = scope.adjoint(right);
    let left = left(scope, reflected, turns, (rows, vectors));
    let vectors = [left, right].map(|vectors| unit.found(scope, is_settled, vectors));
    Singular { values, vectors: Some(vectors), info }
}

/// The adjoint of a triangular factor with its columns rotated, the product of the rotations if it is asked for, and whether the columns
/// are orthogonal.
struct Rotated {
    triangle: InstrId,
    turns: Option<InstrId>,
    is_settled: InstrId,
    reflected: reflections::Reflected,
}

fn rotated(scope: &mut Scope<'_, '_>, a: InstrId, has_turns: bool) -> Rotated {
    let [batch, _, order] = scope.extents(a);
    let working = scope.element_type(a);
    let reflected = reflections::factored(scope, a);
    let square = scope.first(reflected.factor, &[batch, order, order]);
    let zero = scope.integer(0);
    let is_upper = scope.triangle(ComparisonDirection::Le, zero, &[batch, order, order]);
    let nothing = scope.filled_like(square, 0.0);
    let upper = scope.selected(is_upper, square, nothing);
    let lower = scope.adjoint(upper);
    let pairs = paired(order);
    let extents = [batch, pairs, pairs];
    let lower = scope.extended(lower, &extents);
    let none = scope.truth(false, batch);
    let (triangle, turns, is_settled) = if has_turns {
        let turns = scope.identity(working, &extents);
        let [triangle, turns, is_settled] =
            scope.settled(MAX_SWEEPS, [lower, turns, none], |scope, [triangle, turns, _]| {
                let start = scope.filled(real_type(working), 0.0, &[batch]);
                let [triangle, turns, worst] =
                    scope.counted(pairs - 1, [triangle, turns, start], |scope, number, [triangle, turns, worst]| {
                        let (rotation, pairs, worst) = round(scope, number, triangle, worst);
                        let turned = [triangle, turns].map(|matrices| rotation.columns(scope, &pairs, matrices));
                        [turned[0], turned[1], worst]
                    });
                let (is_open, is_settled) = verdict(scope, worst, order);
                (is_open, [triangle, turns, is_settled])
            });
        let turns = scope.first(turns, &[batch, order, order]);
        (triangle, Some(turns), is_settled)
    } else {
        let [triangle, is_settled] = scope.settled(MAX_SWEEPS, [lower, none], |scope, [triangle, _]| {
            let start = scope.filled(real_type(working), 0.0, &[batch]);
            let [triangle, worst] = scope.counted(pairs - 1, [triangle, start], |scope, number, [triangle, worst]| {
                let (rotation, pairs, worst) = round(scope, number, triangle, worst);
                [rotation.columns(scope, &pairs, triangle), worst]
            });
            let (is_open, is_settled) = verdict(scope, worst, order);
            (is_open, [triangle, is_settled])
        });
        (triangle, None, is_settled)
    };
    Rotated { triangle: scope.first(triangle, &[batch, order, order]), turns, is_settled, reflected }
}

/// Whether another sweep is to follow, and for which matrices none need, as the largest cosine of an angle between columns in a sweep was small;
/// of NaN none follows.
fn verdict(scope: &mut Scope<'_, '_>, worst: InstrId, order: i64) -> (InstrId, InstrId) {
    let real = scope.element_type(worst);
    let negligible = epsilon(real) * (order as f64).max(8.0);
    let negligible = scope.filled_like(worst, negligible);
    let is_open = scope.compared(ComparisonDirection::Gt, worst, negligible);
    let is_settled = scope.unary(UnaryOp::Not, is_open);
    (scope.any(is_open, &[0]), is_settled)
}

/// The rotation of all pairs of a round, and the largest cosine so far.
fn round(scope: &mut Scope<'_, '_>, number: InstrId, triangle: InstrId, worst: InstrId) -> (Rotation, Pairs, InstrId) {
    let [_, _, order] = scope.extents(triangle);
    let pairs = Pairs::of(scope, number, order);
    let squares = scope.squares(triangle);
    let own = scope.summed(squares, &[1]);
    let other = scope.lines_of_all(own, pairs.partner, 1);
    let [smaller, larger] = pairs.ends.map(|end| scope.lines_of_all(triangle, end, 2));
    let inner = inner_products(scope, smaller, larger);
    // What is nothing beside rounding errors has no direction.
    let real = scope.element_type(own);
    let shorter = scope.binary(BinaryOp::Minimum, own, other);
    let negligible = scope.filled_like(shorter, least_square(real));
    let is_nothing = scope.compared(ComparisonDirection::Le, shorter, negligible);
    let nothing = scope.filled_like(inner, 0.0);
    let inner = scope.selected(is_nothing, nothing, inner);
    let length = scope.absolute(inner);
    let [own_length, other_length] = [own, other].map(|square| scope.unary(UnaryOp::Sqrt, square));
    let limit = scope.binary(BinaryOp::Multiply, own_length, other_length);
    let one = scope.filled_like(limit, 1.0);
    let limit = scope.selected(is_nothing, one, limit);
    let cosine = scope.binary(BinaryOp::Divide, length, limit);
    let cosine = scope.reduced(BinaryOp::Maximum, cosine, zero_of(real), &[1]);
    let worst = scope.binary(BinaryOp::Maximum, worst, cosine);
    (Rotation::of(scope, &pairs, [own, other], inner), pairs, worst)
}

/// The inner products of columns, `[batch, columns]`.
fn inner_products(scope: &mut Scope<'_, '_>, left: InstrId, right: InstrId) -> InstrId {
    let working = scope.element_type(left);
    let left = scope.conjugated(left);
    let products = scope.binary(BinaryOp::Multiply, left, right);
    if !working.is_complex() {
        return scope.summed(products, &[1]);
    }
    let sums = scope.parts(products).map(|part| scope.summed(part, &[1]));
    scope.like(sums[0], working, Op::Complex, sums.to_vec())
}

/// The directions of columns that are orthogonal to each other, in descending order of their lengths; of those without a length such
/// as are orthogonal to the others.
fn directions(scope: &mut Scope<'_, '_>, columns: InstrId, lengths: InstrId) -> InstrId {
    let extents = scope.extents(columns);
    let real = scope.element_type(lengths);
    let negligible = scope.filled_like(lengths, 3.0 * least_square(real).sqrt());
    let has_length = scope.compared(ComparisonDirection::Gt, lengths, negligible);
    let one = scope.filled_like(lengths, 1.0);
    let divisor = scope.selected(has_length, lengths, one);
    let divisor = scope.broadcast(divisor, &[0, 2], extents.to_vec());
    let given = scope.scaled(BinaryOp::Divide, columns, divisor);
    let has_length = scope.broadcast(has_length, &[0, 2], extents.to_vec());
    let nothing = scope.filled_like(given, 0.0);
    let given = scope.selected(has_length, given, nothing);
    // Reflections that turn these columns into multiples of unit vectors turn the other unit vectors into what is orthogonal
    // to them.
    let made = reflections::factored(scope, given);
    let completed = reflections::product(scope, made.factor, made.taus, extents[2]);
    scope.selected(has_length, given, completed)
}

/// The vectors on the left: `q` times the turns.
fn left(
    scope: &mut Scope<'_, '_>,
    reflected: reflections::Reflected,
    turns: InstrId,
    (rows, vectors): (i64, Vectors),
) -> InstrId {
    let [batch, order, _] = scope.extents(turns);
    let columns = if vectors == Vectors::All { rows } else { order };
    let working = scope.element_type(turns);
    let mut inner = scope.extended(turns, &[batch, rows, columns]);
    if columns > order {
        let identity = scope.identity(working, &[batch, rows, columns]);
        let limit = scope.integer(order);
        let is_behind = scope.places(2, ComparisonDirection::Ge, limit, &[batch, rows, columns]);
        inner = scope.selected(is_behind, identity, inner);
    }
    reflections::multiplied(scope, reflected.factor, reflected.taus, inner, false)
}
