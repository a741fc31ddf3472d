//! Eigenvalues of Hermitian matrices, by Jacobi's method.

use super::matrices::Matrices;
use super::reflections;
use super::rotations::{MAX_SWEEPS, Pairs, Rotation, Unit, ascending, epsilon, paired};
use super::scope::Scope;
use crate::ir::{BinaryOp, ComparisonDirection, InstrId, UnaryOp};
use crate::passes::build::Build;

/// Orthonormal vectors, which are columns, values in ascending order, and LAPACK's `info`.
pub(super) struct Eigen {
    pub(super) vectors: InstrId,
    pub(super) values: InstrId,
    pub(super) info: InstrId,
}

/// The eigenvalues of matrices given by one triangle.
pub(super) fn decomposed(scope: &mut Scope<'_, '_>, a: InstrId, lower: bool) -> Eigen {
    let [batch, order, _] = scope.extents(a);
    let working = scope.element_type(a);
    let a = hermitian(scope, a, lower);
    let unit = Unit::of(scope, a);
    let pairs = paired(order);
    let extents = [batch, pairs, pairs];
    let a = scope.extended(unit.scaled, &extents);
    let vectors = scope.identity(working, &extents);
    let settled = scope.truth(false, batch);
    let [a, vectors, is_settled] = scope.settled(MAX_SWEEPS, [a, vectors, settled], |scope, [a, vectors, _]| {
        let [a, vectors] = scope.counted(pairs - 1, [a, vectors], round);
        let is_settled = is_diagonal(scope, a);
        let is_open = scope.unary(UnaryOp::Not, is_settled);
        (scope.any(is_open, &[0]), [a, vectors, is_settled])
    });
    let values = diagonal(scope, a);
    let values = scope.first(values, &[batch, order]);
    let vectors = scope.first(vectors, &[batch, order, order]);
    let order = ascending(scope, values);
    let (values, vectors) = (scope.lines(values, order, 1), scope.lines(vectors, order, 2));
    let values = unit.undone(scope, values);
    Eigen {
        vectors: unit.found(scope, is_settled, vectors),
        values: unit.found(scope, is_settled, values),
        info: unit.info(scope, is_settled),
    }
}

/// A tridiagonal matrix with the same eigenvalues.
pub(super) struct Tridiagonal {
    /// The vectors of reflections in the triangle that is read; the other one is as it was.
    pub(super) packed: InstrId,
    pub(super) diagonal: InstrId,
    /// What is beside the diagonal, on either side.
    pub(super) beside: InstrId,
    pub(super) taus: InstrId,
}

/// Matrices given by one triangle as tridiagonal ones.
pub(super) fn tridiagonal(scope: &mut Scope<'_, '_>, a: InstrId, lower: bool) -> Tridiagonal {
    if !lower {
        // The upper triangle is the lower one of the matrix whose rows and columns come in the opposite order.
        let a = scope.reversed(a, &[1, 2]);
        let Tridiagonal { packed, diagonal, beside, taus } = tridiagonal(scope, a, true);
        let [diagonal, beside, taus] = [diagonal, beside, taus].map(|line| scope.reversed(line, &[1]));
        return Tridiagonal { packed: scope.reversed(packed, &[1, 2]), diagonal, beside, taus };
    }
    let extents = scope.extents(a);
    let [batch, order, _] = extents;
    let zero = scope.integer(0);
    let whole = hermitian(scope, a, true);
    let made = reflections::condensed(scope, whole);
    let is_given = scope.triangle(ComparisonDirection::Lt, zero, &extents);
    let packed = scope.selected(is_given, a, made.factor);
    let main = diagonal(scope, made.factor);
    let below = scope.part(made.factor, &[0, 1, 0], &[batch, order - 1, order]);
    let below = scope.first(below, &[batch, order - 1, order - 1]);
    let beside = match order {
        1 => scope.filled_like(made.taus, 0.0),
        _ => diagonal(scope, below),
    };
    Tridiagonal { packed, diagonal: main, beside: scope.real(beside), taus: made.taus }
}

/// One triangle on both sides of the diagonal, of which the real parts count.
fn hermitian(scope: &mut Scope<'_, '_>, a: InstrId, lower: bool) -> InstrId {
    let extents = scope.extents(a);
    let zero = scope.integer(0);
    let adjoint = scope.adjoint(a);
    let direction = if lower { ComparisonDirection::Gt } else { ComparisonDirection::Lt };
    let is_given = scope.triangle(direction, zero, &extents);
    let is_diagonal = scope.triangle(ComparisonDirection::Eq, zero, &extents);
    let both = scope.selected(is_given, a, adjoint);
    let real = scope.real(a);
    let real = scope.of_real(scope.element_type(a), real);
    scope.selected(is_diagonal, real, both)
}

/// Rotates rows and columns of all pairs of a round.
fn round(scope: &mut Scope<'_, '_>, number: InstrId, [a, vectors]: [InstrId; 2]) -> [InstrId; 2] {
    let extents = scope.extents(a);
    let [batch, order, _] = extents;
    let pairs = Pairs::of(scope, number, order);
    let own = diagonal(scope, a);
    let other = scope.lines_of_all(own, pairs.partner, 1);
    // Of the two elements beside the diagonal the one above it is taken by both indices.
    let [row, column] = pairs.ends;
    let step = scope.integer(order);
    let step = scope.everywhere(step, &[order]);
    let place = scope.binary(BinaryOp::Multiply, row, step);
    let place = scope.binary(BinaryOp::Add, place, column);
    let elements = scope.reshaped(a, vec![batch, order * order]);
    let inner = scope.lines_of_all(elements, place, 1);
    let rotation = Rotation::of(scope, &pairs, [own, other], inner);
    let a = rotation.columns(scope, &pairs, a);
    let a = rotation.rows(scope, &pairs, a);
    let along = scope.along(2, &extents);
    let partner = scope.broadcast(pairs.partner, &[1], extents.to_vec());
    let is_pair = scope.compared(ComparisonDirection::Eq, along, partner);
    let nothing = scope.filled_like(a, 0.0);
    [scope.selected(is_pair, nothing, a), rotation.columns(scope, &pairs, vectors)]
}

/// The real parts of the diagonal: `[batch, order]`.
fn diagonal(scope: &mut Scope<'_, '_>, a: InstrId) -> InstrId {
    let [batch, order, _] = scope.extents(a);
    let elements = scope.reshaped(a, vec![batch, order * order]);
    let place = scope.along(0, &[order]);
    let step = scope.integer(order + 1);
    let step = scope.everywhere(step, &[order]);
    let place = scope.binary(BinaryOp::Multiply, place, step);
    let diagonal = scope.lines_of_all(elements, place, 1);
    scope.real(diagonal)
}

/// Whether what is beside the diagonal is a rounding error of what is on it: `[batch]`. Where there is NaN nothing will change.
fn is_diagonal(scope: &mut Scope<'_, '_>, a: InstrId) -> InstrId {
    let extents = scope.extents(a);
    let zero = scope.integer(0);
    let squares = scope.squares(a);
    let total = scope.summed(squares, &[1, 2]);
    let is_beside = scope.triangle(ComparisonDirection::Ne, zero, &extents);
    let nothing = scope.filled_like(squares, 0.0);
    let beside = scope.selected(is_beside, squares, nothing);
    let beside = scope.summed(beside, &[1, 2]);
    let real = scope.element_type(total);
    let negligible = scope.filled_like(total, epsilon(real) * epsilon(real));
    let negligible = scope.binary(BinaryOp::Multiply, total, negligible);
    let is_open = scope.compared(ComparisonDirection::Gt, beside, negligible);
    scope.unary(UnaryOp::Not, is_open)
}
