//! Householder reflections with LAPACK's conventions: `h = 1 - tau v vᴴ`, where the first element of `v` is 1 and not stored.

use super::lu::{exchanged_in, largest_from};
use super::matrices::{Matrices, real_type};
use super::panels::{whole, width};
use super::scope::{Scope, zero_of};
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, Op, UnaryOp};
use crate::passes::build::Build;

/// A triangular factor and the vectors of the reflections below its diagonal, and their `tau`: `[batch, steps]`.
pub(super) struct Reflected {
    pub(super) factor: InstrId,
    pub(super) taus: InstrId,
}

/// Factors `a = q r`: a panel is reflected column by column, and what is behind it by the products of its reflections.
pub(super) fn factored(scope: &mut Scope<'_, '_>, a: InstrId) -> Reflected {
    let [batch, rows, columns] = scope.extents(a);
    let working = scope.element_type(a);
    let steps = rows.min(columns);
    let width = width(steps);
    let padded = whole(steps, width);
    let tame = Tame::of(scope, a);
    let a = tame.scaled;
    let made = if padded == width {
        let zero = scope.integer(0);
        panel(scope, a, zero, steps)
    } else {
        let extents = [batch, rows.max(padded), columns.max(padded)];
        let a = scope.extended(a, &extents);
        let taus = scope.filled(working, 0.0, &[batch, padded]);
        let [a, taus] = scope.counted(padded / width, [a, taus], |scope, number, [a, taus]| {
            let (zero, first) = (scope.integer(0), scope.first_of(number, width));
            let given = scope.window(a, &[zero, zero, first], &[batch, extents[1], width]);
            let made = panel(scope, given, first, width);
            let block = Block::new(scope, made.factor, made.taus, first);
            let reflected = block.applied(scope, a, true);
            let end = scope.integer(width);
            let end = scope.binary(BinaryOp::Add, first, end);
            let is_right = scope.places(2, ComparisonDirection::Ge, end, &extents);
            let a = scope.selected(is_right, reflected, a);
            let a = scope.updated(a, made.factor, &[zero, zero, first]);
            [a, scope.updated(taus, made.taus, &[zero, first])]
        });
        let factor = scope.first(a, &[batch, rows, columns]);
        Reflected { factor, taus: scope.first(taus, &[batch, steps]) }
    };
    Reflected { factor: tame.restored(scope, made.factor, 0), taus: made.taus }
}

/// Factors `a p = q r`, where `p` permutes columns so that each step takes the longest of the rest; and which column, from 1, is
/// where: `s32[batch, columns]`.
pub(super) fn pivoted(scope: &mut Scope<'_, '_>, a: InstrId) -> (Reflected, InstrId) {
    let extents = scope.extents(a);
    let [batch, rows, columns] = extents;
    let working = scope.element_type(a);
    let steps = rows.min(columns);
    let tame = Tame::of(scope, a);
    let taus = scope.filled(working, 0.0, &[batch, steps]);
    let order = scope.along(1, &[batch, columns]);
    let [a, taus, order] = scope.counted(steps, [tame.scaled, taus, order], |scope, number, [a, taus, order]| {
        let zero = scope.integer(0);
        let squares = scope.squares(a);
        let is_rest = scope.places(1, ComparisonDirection::Ge, number, &extents);
        let nothing = scope.filled_like(squares, 0.0);
        let squares = scope.selected(is_rest, squares, nothing);
        let lengths = scope.summed(squares, &[1]);
        let longest = largest_from(scope, lengths, number);
        let chosen = scope.lines(a, longest, 2);
        let chosen = scope.broadcast(chosen, &[0, 1], extents.to_vec());
        let own = scope.window(a, &[zero, zero, number], &[batch, rows, 1]);
        let own = scope.reshaped(own, vec![batch, rows]);
        let own = scope.broadcast(own, &[0, 1], extents.to_vec());
        let (along, place) = (scope.along(2, &extents), scope.spread(longest, &extents));
        let is_longest = scope.compared(ComparisonDirection::Eq, along, place);
        let is_step = scope.places(2, ComparisonDirection::Eq, number, &extents);
        let exchanged = scope.selected(is_longest, own, a);
        let exchanged = scope.selected(is_step, chosen, exchanged);
        let order = exchanged_in(scope, order, longest, number);
        let made = step(scope, exchanged, taus, (number, number));
        [made.factor, made.taus, order]
    });
    let one = scope.integer(1);
    let ones = scope.everywhere(one, &[batch, columns]);
    let order = scope.binary(BinaryOp::Add, order, ones);
    let factor = tame.restored(scope, a, 0);
    (Reflected { factor, taus }, scope.converted(order, ElementType::S32))
}

/// Makes `qᴴ a q` of square matrices, of which zeros are below the subdiagonal; the vectors of the reflections stand there.
pub(super) fn condensed(scope: &mut Scope<'_, '_>, a: InstrId) -> Reflected {
    let extents = scope.extents(a);
    let [batch, order, _] = extents;
    let working = scope.element_type(a);
    let steps = order - 1;
    let taus = scope.filled(working, 0.0, &[batch, steps]);
    if steps == 0 {
        return Reflected { factor: a, taus };
    }
    let tame = Tame::of(scope, a);
    let [factor, taus] = scope.counted(steps, [tame.scaled, taus], |scope, number, [a, taus]| {
        let (zero, one) = (scope.integer(0), scope.integer(1));
        let row = scope.binary(BinaryOp::Add, number, one);
        let made = step(scope, a, taus, (row, number));
        let column = scope.window(made.factor, &[zero, zero, number], &[batch, order, 1]);
        let column = scope.reshaped(column, vec![batch, order]);
        let is_below = scope.places(1, ComparisonDirection::Gt, row, &[batch, order]);
        let is_first = scope.places(1, ComparisonDirection::Eq, row, &[batch, order]);
        let (none, one) = (scope.filled_like(column, 0.0), scope.filled_like(column, 1.0));
        let rest = scope.selected(is_first, one, none);
        let vector = scope.selected(is_below, column, rest);
        let tau = scope.window(made.taus, &[zero, number], &[batch, 1]);
        let tau = scope.spread(tau, &[batch, order]);
        let products = scope.product(made.factor, vector, [2, 1]);
        let products = scope.binary(BinaryOp::Multiply, products, tau);
        let products = scope.broadcast(products, &[0, 1], extents.to_vec());
        let vector = scope.conjugated(vector);
        let vector = scope.broadcast(vector, &[0, 2], extents.to_vec());
        let product = scope.binary(BinaryOp::Multiply, products, vector);
        [scope.binary(BinaryOp::Subtract, made.factor, product), made.taus]
    });
    Reflected { factor: tame.restored(scope, factor, 1), taus }
}

/// The product of the reflections whose vectors are below the diagonal, or its adjoint, times `c`.
pub(super) fn multiplied(
    scope: &mut Scope<'_, '_>,
    vectors: InstrId,
    taus: InstrId,
    c: InstrId,
    adjoint: bool,
) -> InstrId {
    let [batch, rows, count] = scope.extents(vectors);
    let width = width(count);
    let padded = whole(count, width);
    if padded == width {
        let zero = scope.integer(0);
        let block = Block::new(scope, vectors, taus, zero);
        return block.applied(scope, c, adjoint);
    }
    let vectors = scope.extended(vectors, &[batch, rows, padded]);
    let taus = scope.extended(taus, &[batch, padded]);
    let blocks = padded / width;
    let [_, _, c] = scope.counted(blocks, [vectors, taus, c], |scope, number, [vectors, taus, c]| {
        // The last factor is the first to meet what stands on its right.
        let last = scope.integer(blocks - 1);
        let at = if adjoint { number } else { scope.binary(BinaryOp::Subtract, last, number) };
        let (zero, first) = (scope.integer(0), scope.first_of(at, width));
        let of_block = scope.window(vectors, &[zero, zero, first], &[batch, rows, width]);
        let taus_of_block = scope.window(taus, &[zero, first], &[batch, width]);
        let block = Block::new(scope, of_block, taus_of_block, first);
        [vectors, taus, block.applied(scope, c, adjoint)]
    });
    c
}

/// The first columns of the product of reflections, as many as are given.
pub(super) fn product(scope: &mut Scope<'_, '_>, vectors: InstrId, taus: InstrId, columns: i64) -> InstrId {
    let [batch, rows, _] = scope.extents(vectors);
    let working = scope.element_type(vectors);
    let identity = scope.identity(working, &[batch, rows, columns]);
    multiplied(scope, vectors, taus, identity, false)
}

/// Reflects as many columns, from the first on, whose diagonal starts in row `first`.
fn panel(scope: &mut Scope<'_, '_>, a: InstrId, first: InstrId, steps: i64) -> Reflected {
    let [batch, ..] = scope.extents(a);
    let working = scope.element_type(a);
    let taus = scope.filled(working, 0.0, &[batch, steps]);
    let [_, factor, taus] = scope.counted(steps, [first, a, taus], |scope, number, [first, a, taus]| {
        let row = scope.binary(BinaryOp::Add, first, number);
        let made = step(scope, a, taus, (row, number));
        [first, made.factor, made.taus]
    });
    Reflected { factor, taus }
}

/// Makes zeros in a column below a row, and stores the vector that does it there, and `tau`.
fn step(scope: &mut Scope<'_, '_>, a: InstrId, taus: InstrId, (row, number): (InstrId, InstrId)) -> Reflected {
    let extents = scope.extents(a);
    let [batch, rows, _] = extents;
    let working = scope.element_type(a);
    let real = real_type(working);
    let zero = scope.integer(0);
    let line = [batch, rows];
    let column = scope.window(a, &[zero, zero, number], &[batch, rows, 1]);
    let given = scope.reshaped(column, line.to_vec());
    let is_below = scope.places(1, ComparisonDirection::Gt, row, &line);
    let is_first = scope.places(1, ComparisonDirection::Eq, row, &line);
    // Of columns that are small beside others squares would vanish: their largest element is 1.
    let sizes = scope.sizes(given);
    let nothing = scope.filled_like(sizes, 0.0);
    let is_rest = scope.binary(BinaryOp::Or, is_below, is_first);
    let sizes = scope.selected(is_rest, sizes, nothing);
    let largest = scope.reduced(BinaryOp::Maximum, sizes, zero_of(real), &[1]);
    let (nothing, one) = (scope.filled_like(largest, 0.0), scope.filled_like(largest, 1.0));
    let is_nothing = scope.compared(ComparisonDirection::Eq, largest, nothing);
    let largest = scope.selected(is_nothing, one, largest);
    let scale = scope.spread(largest, &line);
    let column = scope.scaled(BinaryOp::Divide, given, scale);
    let squares = scope.squares(column);
    let nothing = scope.filled_like(squares, 0.0);
    let below = scope.selected(is_below, squares, nothing);
    let below = scope.summed(below, &[1]);

    let [alpha, undivided] = [column, given].map(|column| {
        let alpha = scope.window(column, &[zero, row], &[batch, 1]);
        scope.reshaped(alpha, vec![batch])
    });
    let first = scope.real(alpha);
    let nothing = scope.filled(real, 0.0, &[batch]);
    let mut is_kept = scope.compared(ComparisonDirection::Eq, below, nothing);
    if working.is_complex() {
        let imaginary = scope.parts(alpha)[1];
        let is_real = scope.compared(ComparisonDirection::Eq, imaginary, nothing);
        is_kept = scope.binary(BinaryOp::And, is_kept, is_real);
    }
    let square = scope.squares(alpha);
    let square = scope.binary(BinaryOp::Add, square, below);
    let length = scope.unary(UnaryOp::Sqrt, square);
    let opposite = scope.unary(UnaryOp::Negate, length);
    let is_negative = scope.compared(ComparisonDirection::Lt, first, nothing);
    let beta = scope.selected(is_negative, length, opposite);
    let beta = scope.selected(is_kept, first, beta);
    let one = scope.filled(real, 1.0, &[batch]);
    let divisor = scope.selected(is_kept, one, beta);
    let difference = scope.binary(BinaryOp::Subtract, beta, first);
    let mut tau = scope.binary(BinaryOp::Divide, difference, divisor);
    if working.is_complex() {
        let imaginary = scope.parts(alpha)[1];
        let imaginary = scope.unary(UnaryOp::Negate, imaginary);
        let imaginary = scope.binary(BinaryOp::Divide, imaginary, divisor);
        tau = scope.like(tau, working, Op::Complex, vec![tau, imaginary]);
    }
    let none = scope.filled_like(tau, 0.0);
    let tau = scope.selected(is_kept, none, tau);
    let in_scale = scope.binary(BinaryOp::Multiply, beta, largest);
    let first = scope.real(undivided);
    let in_scale = scope.selected(is_kept, first, in_scale);
    let beta = scope.of_real(working, beta);
    let divisor = scope.binary(BinaryOp::Subtract, alpha, beta);
    let one = scope.filled_like(divisor, 1.0);
    let divisor = scope.selected(is_kept, one, divisor);

    let divisor = scope.spread(divisor, &line);
    let vector = scope.binary(BinaryOp::Divide, column, divisor);
    let (none, one) = (scope.filled_like(vector, 0.0), scope.filled_like(vector, 1.0));
    let rest = scope.selected(is_first, one, none);
    let vector = scope.selected(is_below, vector, rest);

    let conjugated = scope.conjugated(vector);
    let inner = scope.product(conjugated, a, [1, 1]);
    let inner = scope.broadcast(inner, &[0, 2], extents.to_vec());
    let inverse = scope.conjugated(tau);
    let inverse = scope.spread(inverse, &extents);
    let factor = scope.binary(BinaryOp::Multiply, inverse, inner);
    let everywhere = scope.broadcast(vector, &[0, 1], extents.to_vec());
    let product = scope.binary(BinaryOp::Multiply, everywhere, factor);
    let reflected = scope.binary(BinaryOp::Subtract, a, product);
    let is_right = scope.places(2, ComparisonDirection::Gt, number, &extents);
    let reflected = scope.selected(is_right, reflected, a);

    let beta = scope.of_real(working, in_scale);
    let beta = scope.spread(beta, &line);
    let stored = scope.selected(is_first, beta, given);
    let stored = scope.selected(is_below, vector, stored);
    let stored = scope.broadcast(stored, &[0, 1], extents.to_vec());
    let is_column = scope.places(2, ComparisonDirection::Eq, number, &extents);
    let factor = scope.selected(is_column, stored, reflected);
    let tau = scope.reshaped(tau, vec![batch, 1]);
    Reflected { factor, taus: scope.updated(taus, tau, &[zero, number]) }
}

/// The product `1 - v t vᴴ` of the reflections of a panel.
struct Block {
    v: InstrId,
    t: InstrId,
}

impl Block {
    /// Of vectors below a diagonal that starts in row `first`. Column `j` of `t` is `-tau[j] t vᴴ v[j]` above its diagonal, and `tau[j]`
    /// on it.
    fn new(scope: &mut Scope<'_, '_>, vectors: InstrId, taus: InstrId, first: InstrId) -> Self {
        let extents = scope.extents(vectors);
        let [batch, _, width] = extents;
        let is_below = scope.triangle(ComparisonDirection::Gt, first, &extents);
        let is_diagonal = scope.triangle(ComparisonDirection::Eq, first, &extents);
        let (none, one) = (scope.filled_like(vectors, 0.0), scope.filled_like(vectors, 1.0));
        let rest = scope.selected(is_diagonal, one, none);
        let v = scope.selected(is_below, vectors, rest);
        let conjugated = scope.conjugated(v);
        let products = scope.product(conjugated, v, [1, 1]);
        let square = [batch, width, width];
        let start = scope.filled(scope.element_type(v), 0.0, &square);
        let [_, _, t] = scope.counted(width, [products, taus, start], |scope, number, [products, taus, t]| {
            let zero = scope.integer(0);
            let line = [batch, width];
            let column = scope.window(products, &[zero, zero, number], &[batch, width, 1]);
            let column = scope.reshaped(column, line.to_vec());
            let is_before = scope.places(1, ComparisonDirection::Lt, number, &line);
            let none = scope.filled_like(column, 0.0);
            let column = scope.selected(is_before, column, none);
            let column = scope.product(t, column, [2, 1]);
            let tau = scope.window(taus, &[zero, number], &[batch, 1]);
            let tau = scope.spread(tau, &line);
            let product = scope.binary(BinaryOp::Multiply, tau, column);
            let opposite = scope.unary(UnaryOp::Negate, product);
            let is_own = scope.places(1, ComparisonDirection::Eq, number, &line);
            let made = scope.selected(is_before, opposite, none);
            let made = scope.selected(is_own, tau, made);
            let made = scope.broadcast(made, &[0, 1], square.to_vec());
            let is_column = scope.places(2, ComparisonDirection::Eq, number, &square);
            [products, taus, scope.selected(is_column, made, t)]
        });
        Block { v, t }
    }

    /// The product, or its adjoint, times `c`.
    fn applied(&self, scope: &mut Scope<'_, '_>, c: InstrId, adjoint: bool) -> InstrId {
        let conjugated = scope.conjugated(self.v);
        let inner = scope.product(conjugated, c, [1, 1]);
        let t = if adjoint { scope.adjoint(self.t) } else { self.t };
        let inner = scope.product(t, inner, [2, 1]);
        scope.less_product(c, self.v, inner, 1)
    }
}

/// Matrices multiplied by a power of two where their elements are too large or too small for sums of their squares.
pub(super) struct Tame {
    pub(super) scaled: InstrId,
    /// What to multiply by to undo that: `[batch]`.
    undo: InstrId,
}

impl Tame {
    pub(super) fn of(scope: &mut Scope<'_, '_>, a: InstrId) -> Self {
        let extents = scope.extents(a);
        let real = real_type(scope.element_type(a));
        let exponents = if real == ElementType::F64 { (300, 700) } else { (40, 90) };
        let power = |exponent: i64| f64::from_bits(((1023 + exponent) as u64) << 52);
        let sizes = scope.sizes(a);
        let none = zero_of(real);
        let largest = scope.reduced(BinaryOp::Maximum, sizes, none, &[1, 2]);
        let [least, most] = [-exponents.0, exponents.0].map(|at| scope.filled_like(largest, power(at)));
        let is_small = scope.compared(ComparisonDirection::Lt, largest, least);
        let is_large = scope.compared(ComparisonDirection::Gt, largest, most);
        let mut chosen = |sign: i64| {
            let [up, down] = [exponents.1, -exponents.1].map(|at| scope.filled_like(largest, power(sign * at)));
            let same = scope.filled_like(largest, 1.0);
            let up = scope.selected(is_small, up, same);
            scope.selected(is_large, down, up)
        };
        let (factor, undo) = (chosen(1), chosen(-1));
        let factor = scope.spread(factor, &extents);
        Tame { scaled: scope.scaled(BinaryOp::Multiply, a, factor), undo }
    }

    /// Matrices in the scale of what was given, but for the vectors of reflections, which have none, below a diagonal.
    fn restored(&self, scope: &mut Scope<'_, '_>, factor: InstrId, diagonal: i64) -> InstrId {
        let extents = scope.extents(factor);
        let diagonal = scope.integer(diagonal);
        let is_factor = scope.triangle(ComparisonDirection::Le, diagonal, &extents);
        let restored = self.undone(scope, factor);
        scope.selected(is_factor, restored, factor)
    }

    /// Numbers of each matrix in the scale of what was given.
    pub(super) fn undone(&self, scope: &mut Scope<'_, '_>, numbers: InstrId) -> InstrId {
        let extents = scope.array(numbers).extents.clone();
        let undo = scope.spread(self.undo, &extents);
        scope.scaled(BinaryOp::Multiply, numbers, undo)
    }
}
