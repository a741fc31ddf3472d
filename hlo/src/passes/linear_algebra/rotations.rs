//! Jacobi's rotations, of as many pairs at a time as there are.
//!
//! Every index is in one pair of each round, and every two indices are a pair in one round of a sweep: as in a tournament, the last
//! one keeps its place and the others move around a circle. What is computed of a pair is computed for both of its indices alike, from
//! the same numbers.

use super::matrices::{Matrices, real_type};
use super::scope::{Scope, zero_of};
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, Scalar, UnaryOp};
use crate::passes::build::Build;

/// Sweeps at most; eight are usual.
pub(super) const MAX_SWEEPS: i64 = 40;

/// The distance from 1 to the next number of a real type.
pub(super) fn epsilon(real: ElementType) -> f64 {
    if real == ElementType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) }
}

/// What counts as no inner product of columns, where the largest element of a matrix is 1: the square of a length that is nothing
/// beside a rounding error.
pub(super) fn least(real: ElementType) -> f64 {
    if real == ElementType::F64 { 1e-60 } else { 1e-30 }
}

/// The square of the length of columns that count as nothing: any that are longer are orthogonal, but for rounding errors, where their
/// inner product is none.
pub(super) fn least_square(real: ElementType) -> f64 {
    least(real) / epsilon(real)
}

/// The order of matrices whose indices are all in pairs.
pub(super) fn paired(order: i64) -> i64 {
    order + order % 2
}

/// The pairs of a round.
pub(super) struct Pairs {
    /// For each index, `[order]`, the other of its pair.
    pub(super) partner: InstrId,
    /// The smaller and the larger of each pair.
    pub(super) ends: [InstrId; 2],
    /// Whether the index is the smaller of its pair.
    is_smaller: InstrId,
}

impl Pairs {
    /// The pairs of a round, of which there are one less than indices.
    pub(super) fn of(scope: &mut Scope<'_, '_>, round: InstrId, order: i64) -> Self {
        let line = [order];
        let index = scope.along(0, &line);
        let fixed = scope.integer(order - 1);
        let fixed = scope.everywhere(fixed, &line);
        let round = scope.everywhere(round, &line);
        let twice = scope.binary(BinaryOp::Add, round, round);
        let sum = scope.binary(BinaryOp::Subtract, twice, index);
        let sum = scope.binary(BinaryOp::Add, sum, fixed);
        let opposite = scope.binary(BinaryOp::Remainder, sum, fixed);
        // The index opposite of which there is none is in a pair with that which keeps its place.
        let is_alone = scope.compared(ComparisonDirection::Eq, opposite, index);
        let opposite = scope.selected(is_alone, fixed, opposite);
        let is_fixed = scope.compared(ComparisonDirection::Eq, index, fixed);
        let partner = scope.selected(is_fixed, round, opposite);
        let is_smaller = scope.compared(ComparisonDirection::Lt, index, partner);
        let ends = [BinaryOp::Minimum, BinaryOp::Maximum].map(|op| scope.binary(op, index, partner));
        Pairs { partner, ends, is_smaller }
    }

    /// Whether the index along the last dimension is the smaller of its pair.
    pub(super) fn smaller(&self, scope: &mut Scope<'_, '_>, extents: &[i64]) -> InstrId {
        scope.broadcast(self.is_smaller, &[extents.len() as i64 - 1], extents.to_vec())
    }
}

/// What columns become: `own` times the column and `other` times its partner, `[batch, order]` of each.
pub(super) struct Rotation {
    own: InstrId,
    other: InstrId,
}

impl Rotation {
    /// What makes the inner product of the columns of each pair zero. Given are, for each index, the squares of its column and of its
    /// partner's, and the inner product of the smaller index's column with that of the larger.
    pub(super) fn of(scope: &mut Scope<'_, '_>, pairs: &Pairs, squares: [InstrId; 2], inner: InstrId) -> Self {
        let line = scope.array(inner).extents.clone();
        let working = scope.element_type(inner);
        let real = real_type(working);
        let is_smaller = pairs.smaller(scope, &line);
        let length = scope.absolute(inner);
        let least = scope.filled(real, least(real), &line);
        let is_nothing = scope.compared(ComparisonDirection::Le, length, least);
        let [zero, one] = [0.0, 1.0].map(|number| scope.filled(real, number, &line));
        let length = scope.selected(is_nothing, one, length);

        // The smaller root of t² + 2 ζ t - 1 = 0 is the tangent of the angle.
        let [own, other] = squares;
        let small = scope.selected(is_smaller, own, other);
        let large = scope.selected(is_smaller, other, own);
        let difference = scope.binary(BinaryOp::Subtract, large, small);
        let twice = scope.binary(BinaryOp::Add, length, length);
        let zeta = scope.binary(BinaryOp::Divide, difference, twice);
        let square = scope.binary(BinaryOp::Multiply, zeta, zeta);
        let square = scope.binary(BinaryOp::Add, square, one);
        let root = scope.unary(UnaryOp::Sqrt, square);
        // Beside the square of what is large 1 is nothing, and that of what is larger still would overflow.
        let size = scope.unary(UnaryOp::Abs, zeta);
        let large = scope.filled_like(size, 1e16);
        let is_large = scope.compared(ComparisonDirection::Gt, size, large);
        let root = scope.selected(is_large, size, root);
        let divisor = scope.binary(BinaryOp::Add, size, root);
        let tangent = scope.binary(BinaryOp::Divide, one, divisor);
        let opposite = scope.unary(UnaryOp::Negate, tangent);
        let is_negative = scope.compared(ComparisonDirection::Lt, zeta, zero);
        let tangent = scope.selected(is_negative, opposite, tangent);
        let tangent = scope.selected(is_nothing, zero, tangent);
        let square = scope.binary(BinaryOp::Multiply, tangent, tangent);
        let square = scope.binary(BinaryOp::Add, square, one);
        let root = scope.unary(UnaryOp::Sqrt, square);
        let cosine = scope.binary(BinaryOp::Divide, one, root);
        let sine = scope.binary(BinaryOp::Multiply, tangent, cosine);

        // The larger column is turned so that the inner product is real.
        let phase = scope.conjugated(inner);
        let phase = scope.scaled(BinaryOp::Divide, phase, length);
        let same = scope.filled(working, 1.0, &line);
        let phase = scope.selected(is_nothing, same, phase);
        let turned = |scope: &mut Scope<'_, '_>, factor: InstrId| scope.scaled(BinaryOp::Multiply, phase, factor);
        let opposite = scope.unary(UnaryOp::Negate, sine);
        let (large_own, small_other) = (turned(scope, cosine), turned(scope, opposite));
        let (cosine, sine) = (scope.of_real(working, cosine), scope.of_real(working, sine));
        Rotation {
            own: scope.selected(is_smaller, cosine, large_own),
            other: scope.selected(is_smaller, small_other, sine),
        }
    }

    /// The columns of matrices, rotated.
    pub(super) fn columns(&self, scope: &mut Scope<'_, '_>, pairs: &Pairs, matrices: InstrId) -> InstrId {
        self.applied(scope, pairs, matrices, (2, false))
    }

    /// The rows of matrices, rotated by the adjoint.
    pub(super) fn rows(&self, scope: &mut Scope<'_, '_>, pairs: &Pairs, matrices: InstrId) -> InstrId {
        self.applied(scope, pairs, matrices, (1, true))
    }

    fn applied(
        &self,
        scope: &mut Scope<'_, '_>,
        pairs: &Pairs,
        matrices: InstrId,
        (dimension, conjugated): (i64, bool),
    ) -> InstrId {
        let extents = scope.extents(matrices);
        let partners = scope.lines_of_all(matrices, pairs.partner, dimension);
        let [own, other] = [(self.own, matrices), (self.other, partners)].map(|(factor, value)| {
            let factor = if conjugated { scope.conjugated(factor) } else { factor };
            let factor = scope.broadcast(factor, &[0, dimension], extents.to_vec());
            scope.binary(BinaryOp::Multiply, factor, value)
        });
        scope.binary(BinaryOp::Add, own, other)
    }
}

/// For each of real numbers `[batch, count]` its place among them in ascending order, equal ones in theirs.
fn ranks(scope: &mut Scope<'_, '_>, numbers: InstrId) -> InstrId {
    let [batch, count] = scope.array(numbers).extents[..] else { unreachable!("numbers have two dimensions") };
    let square = [batch, count, count];
    let own = scope.broadcast(numbers, &[0, 1], square.to_vec());
    let other = scope.broadcast(numbers, &[0, 2], square.to_vec());
    let is_less = scope.compared(ComparisonDirection::Lt, other, own);
    let is_same = scope.compared(ComparisonDirection::Eq, other, own);
    let [own, other] = [1, 2].map(|dimension| scope.along(dimension, &square));
    let is_before = scope.compared(ComparisonDirection::Lt, other, own);
    let is_before = scope.binary(BinaryOp::And, is_same, is_before);
    let is_first = scope.binary(BinaryOp::Or, is_less, is_before);
    let ones = scope.converted(is_first, scope.counting());
    scope.summed(ones, &[2])
}

/// The places of real numbers `[batch, count]` in ascending order: `[batch, count]`.
pub(super) fn ascending(scope: &mut Scope<'_, '_>, numbers: InstrId) -> InstrId {
    let [batch, count] = scope.array(numbers).extents[..] else { unreachable!("numbers have two dimensions") };
    let ranks = ranks(scope, numbers);
    let square = [batch, count, count];
    let rank = scope.broadcast(ranks, &[0, 2], square.to_vec());
    let [wanted, place] = [1, 2].map(|dimension| scope.along(dimension, &square));
    let is_there = scope.compared(ComparisonDirection::Eq, rank, wanted);
    let zero = scope.integer(0);
    let zero = scope.everywhere(zero, &square);
    let place = scope.selected(is_there, place, zero);
    scope.summed(place, &[2])
}

/// Matrices scaled such that the largest part of an element is 1; what to multiply by to undo that, and whether all elements are
/// finite: `[batch]`.
pub(super) struct Unit {
    pub(super) scaled: InstrId,
    pub(super) scale: InstrId,
    pub(super) is_finite: InstrId,
}

impl Unit {
    pub(super) fn of(scope: &mut Scope<'_, '_>, a: InstrId) -> Self {
        let extents = scope.extents(a);
        let parts = if scope.element_type(a).is_complex() { scope.parts(a).to_vec() } else { vec![a] };
        let sizes: Vec<InstrId> = parts.into_iter().map(|part| scope.unary(UnaryOp::Abs, part)).collect();
        let sizes = sizes.into_iter().reduce(|one, other| scope.binary(BinaryOp::Maximum, one, other));
        let sizes = sizes.expect("numbers have parts");
        let none = zero_of(scope.element_type(sizes));
        let largest = scope.reduced(BinaryOp::Maximum, sizes, none, &[1, 2]);
        let (nothing, one) = (scope.filled_like(largest, 0.0), scope.filled_like(largest, 1.0));
        let is_something = scope.compared(ComparisonDirection::Gt, largest, nothing);
        let scale = scope.selected(is_something, largest, one);
        let infinite = scope.filled_like(largest, f64::INFINITY);
        let is_finite = scope.compared(ComparisonDirection::Lt, largest, infinite);
        let divisor = scope.spread(scale, &extents);
        Unit { scaled: scope.scaled(BinaryOp::Divide, a, divisor), scale, is_finite }
    }

    /// What is found, where it is: the numbers of finite matrices that are settled, else NaN.
    pub(super) fn found(&self, scope: &mut Scope<'_, '_>, is_settled: InstrId, numbers: InstrId) -> InstrId {
        let none = scope.filled_like(numbers, f64::NAN);
        let is_found = scope.binary(BinaryOp::And, is_settled, self.is_finite);
        scope.selected_of_each(is_found, numbers, none)
    }

    /// LAPACK's `info`: 1 where iterations do not end, -4 where elements are no finite numbers.
    pub(super) fn info(&self, scope: &mut Scope<'_, '_>, is_settled: InstrId) -> InstrId {
        let batch = scope.array(is_settled).extents.clone();
        let [found, failed, refused] = [0, 1, -4].map(|info| {
            let info = scope.scalar(Scalar::S32(info));
            scope.everywhere(info, &batch)
        });
        let info = scope.selected(is_settled, found, failed);
        scope.selected(self.is_finite, info, refused)
    }

    /// Numbers of each matrix in the scale of what was given.
    pub(super) fn undone(&self, scope: &mut Scope<'_, '_>, numbers: InstrId) -> InstrId {
        let extents = scope.array(numbers).extents.clone();
        let scale = scope.spread(self.scale, &extents);
        scope.scaled(BinaryOp::Multiply, numbers, scale)
    }
}
