//! Expansion of triangular-solve, by blocks of rows.

use super::matrices::Matrices;
use super::panels::{whole, width};
use super::scope::Scope;
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
    let most = shape.extents.iter().rev().take(2).copied().max()?;
    let mut scope = Scope::new(rebuild, most);
    let (a, b) = (scope.matrices(a), scope.matrices(b));
    let x = solved(&mut scope, a, b, system);
    let x = scope.converted(x, shape.element_type);
    let x = scope.reshaped(x, shape.extents.clone());
    Some(("triangular-solve is a loop over blocks of rows", Rewrite::Value(x)))
}

/// The unknowns.
pub(super) fn solved(scope: &mut Scope<'_, '_>, mut a: InstrId, mut b: InstrId, system: &System) -> InstrId {
    if system.transpose_a == TransposeKind::Adjoint {
        a = scope.conjugated(a);
    }
    // x op(a) = b says that op(a)ᵀ xᵀ = bᵀ.
    let is_transposed = (system.transpose_a != TransposeKind::None) == system.left_side;
    if is_transposed {
        a = scope.flipped(a);
    }
    if !system.left_side {
        b = scope.flipped(b);
    }
    // An upper triangle is a lower one backwards.
    let is_backwards = system.lower == is_transposed;
    if is_backwards {
        a = scope.reversed(a, &[1, 2]);
        b = scope.reversed(b, &[1]);
    }
    let mut x = substituted(scope, a, b, system.unit_diagonal);
    if is_backwards {
        x = scope.reversed(x, &[1]);
    }
    if system.left_side { x } else { scope.flipped(x) }
}

/// The `x` with `a x = b`, of whose `a` the lower triangle is read: what the product of `a` with the rows of `x` that are known leaves of
/// `b` is solved for a block of rows.
fn substituted(scope: &mut Scope<'_, '_>, a: InstrId, b: InstrId, unit_diagonal: bool) -> InstrId {
    let [batch, order, columns] = scope.extents(b);
    let width = width(order);
    let padded = whole(order, width);
    if padded == width {
        return block(scope, a, b, unit_diagonal);
    }
    let working = scope.element_type(b);
    let a = scope.extended_by_ones(a, padded);
    let b = scope.extended(b, &[batch, padded, columns]);
    let start = scope.filled(working, 0.0, &[batch, padded, columns]);
    let [_, _, x] = scope.counted(padded / width, [a, b, start], |scope, number, [a, b, x]| {
        let (zero, first) = (scope.integer(0), scope.first_of(number, width));
        // What is not known yet is 0 in x, and so is what it is multiplied by, whatever `a` holds there.
        let row = [batch, width, padded];
        let is_known = scope.places(2, ComparisonDirection::Lt, first, &row);
        let factors = scope.window(a, &[zero, first, zero], &row);
        let nothing = scope.filled(working, 0.0, &row);
        let factors = scope.selected(is_known, factors, nothing);
        let right = scope.window(b, &[zero, first, zero], &[batch, width, columns]);
        let rest = scope.less_product(right, factors, x, 1);
        let within = scope.window(a, &[zero, first, first], &[batch, width, width]);
        let made = block(scope, within, rest, unit_diagonal);
        [a, b, scope.updated(x, made, &[zero, first, zero])]
    });
    scope.first(x, &[batch, order, columns])
}

/// As [`substituted`], row by row: those behind it lose what its unknowns contribute.
pub(super) fn block(scope: &mut Scope<'_, '_>, a: InstrId, b: InstrId, unit_diagonal: bool) -> InstrId {
    let extents = scope.extents(b);
    let [batch, order, columns] = extents;
    let [_, x] = scope.counted(order, [a, b], |scope, number, [a, rest]| {
        let zero = scope.integer(0);
        let row = scope.window(rest, &[zero, number, zero], &[batch, 1, columns]);
        let row = scope.reshaped(row, vec![batch, columns]);
        let mut row = scope.broadcast(row, &[0, 2], extents.to_vec());
        if !unit_diagonal {
            let diagonal = scope.window(a, &[zero, number, number], &[batch, 1, 1]);
            let diagonal = scope.spread(diagonal, &extents);
            row = scope.binary(BinaryOp::Divide, row, diagonal);
        }
        let factors = scope.window(a, &[zero, zero, number], &[batch, order, 1]);
        let factors = scope.reshaped(factors, vec![batch, order]);
        let factors = scope.broadcast(factors, &[0, 1], extents.to_vec());
        let product = scope.binary(BinaryOp::Multiply, factors, row);
        let less = scope.binary(BinaryOp::Subtract, rest, product);
        let is_behind = scope.places(1, ComparisonDirection::Gt, number, &extents);
        let is_row = scope.places(1, ComparisonDirection::Eq, number, &extents);
        let rest = scope.selected(is_behind, less, rest);
        [a, scope.selected(is_row, row, rest)]
    });
    x
}
