//! Transforms of all lines along one dimension.

use super::chirp;
use super::factors::factors;
use super::matrix::{FourierMatrix, FourierParts};
use super::parts::Parts;
use super::roots;
use crate::ir::{BinaryOp, InstrId, Op, Precision, Shape};
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;

/// `X[k] = Σ x[j] e^(-2πi jk/n)` for lines of `n` numbers; for the inverse with the other sign, and divided by `n`.
pub(super) struct Lines {
    pub(super) length: i64,
    pub(super) inverse: bool,
}

impl Lines {
    /// The transforms along a dimension of this length; `None` where it is too long.
    pub(super) fn transform(&self, rebuild: &mut Rebuild<'_>, values: Parts, dimension: usize) -> Option<Parts> {
        let divisor = if self.inverse { self.length } else { 1 };
        let Some(factors) = factors(self.length) else {
            return chirp::transform(rebuild, values, dimension, (self.inverse, 1.0 / divisor as f64));
        };
        Some(self.by_factors(rebuild, values, dimension, &factors, divisor))
    }

    /// Of `n = r m` let `j = m a + b` and `k = c + r d`. Then `X[k] = Σ_b e(bd/m) e(bc/n) Σ_a e(ac/r) x[j]`, where `e(t)` is
    /// `e^(-2πi t)`: a product with the matrix of `e(ac/r)`, one with the roots of order `n`, and transforms of the length `m`
    /// for each `c`. What is made is stored as `[b, c]`, so that the parts of `k` that are known lie innermost, in their order.
    ///
    /// Between steps real parts and imaginary ones are one array, `[2, …]`, of which a product with a real matrix of twice the
    /// order makes the next one; roots are multiplied with where it is read.
    fn by_factors(
        &self,
        rebuild: &mut Rebuild<'_>,
        values: Parts,
        dimension: usize,
        factors: &[i64],
        divisor: i64,
    ) -> Parts {
        let Some((&last, first)) = factors.split_last() else { return values };
        let given = rebuild.array(values.re).clone();
        let (outer, inner) = given.extents.split_at(dimension);
        let (outer, mut inner) = (outer.iter().product::<i64>(), inner[1..].iter().product::<i64>());
        let (mut both, mut rest) = (None, self.length);
        for &factor in first {
            rest /= factor;
            let columns = match both {
                None => values.reshaped(rebuild, &[1, outer, factor, rest, inner]).stacked(rebuild),
                Some(both) => {
                    let turned = self.turned(rebuild, both);
                    rebuild.reshaped(turned, vec![2, outer, factor, rest, inner])
                }
            };
            let count = rebuild.array(columns).extents[0];
            let parts = if count == 1 { FourierParts::OfReal } else { FourierParts::OfComplex };
            let matrix = FourierMatrix { order: factor, inverse: self.inverse, parts, divisor: 1 };
            let elements = roots::constant(rebuild, given.element_type, &[2, factor, count, factor], matrix.values());
            let made = marked_product(rebuild, (matrix, elements), columns, &[0, 2]);
            let made = rebuild.transposed(made, &[0, 2, 3, 1, 4]);
            both = Some(rebuild.reshaped(made, vec![2, outer, rest, factor, inner]));
            inner *= factor;
        }
        let values = match both {
            None => values,
            Some(both) => {
                let turned = self.turned(rebuild, both);
                Parts::unstacked(rebuild, turned)
            }
        };
        let values = values.reshaped(rebuild, &[outer, last, inner]);
        let [re, im] = [FourierParts::Real, FourierParts::Imaginary].map(|parts| {
            let matrix = FourierMatrix { order: last, inverse: self.inverse, parts, divisor };
            (matrix, roots::constant(rebuild, given.element_type, &[last, last], matrix.values()))
        });
        let made = complex_product(rebuild, [re, im], values);
        let made = made.each(rebuild, |rebuild, part| rebuild.transposed(part, &[1, 0, 2]));
        made.reshaped(rebuild, &given.extents)
    }

    /// What a step makes, `[2, outer, b, c, inner]`, times the roots of order `bc`: `re cos - im sin`, and `im cos + re sin`.
    fn turned(&self, rebuild: &mut Rebuild<'_>, both: InstrId) -> InstrId {
        let shape = rebuild.array(both).clone();
        let [_, _, rows, columns, _] = shape.extents[..] else { unreachable!("steps make five dimensions") };
        let turns = roots::table(rebuild, shape.element_type, (rows, columns), self.inverse);
        let cos = rebuild.broadcast(turns.re, &[2, 3], shape.extents.clone());
        let sin = turns.imaginary(rebuild);
        let sin = rebuild.broadcast(sin, &[2, 3], shape.extents.clone());
        let signs = roots::constant(rebuild, shape.element_type, &[2], vec![-1.0, 1.0]);
        let signs = rebuild.broadcast(signs, &[0], shape.extents);
        let sin = rebuild.binary(BinaryOp::Multiply, sin, signs);
        let other = rebuild.reversed(both, &[0]);
        let along = rebuild.binary(BinaryOp::Multiply, both, cos);
        let across = rebuild.binary(BinaryOp::Multiply, other, sin);
        rebuild.binary(BinaryOp::Add, along, across)
    }
}

/// A matrix, and the constant that has its elements.
type Elements = (FourierMatrix, InstrId);

/// The products of a complex matrix, real and imaginary parts, with the columns along dimension 1 of complex numbers, as `[row, 0, 2, 3, …]`.
fn complex_product(rebuild: &mut Rebuild<'_>, [real, imaginary]: [Elements; 2], values: Parts) -> Parts {
    let mut re = marked_product(rebuild, real, values.re, &[1]);
    let mut im = marked_product(rebuild, imaginary, values.re, &[1]);
    if let Some(part) = values.im {
        let square = marked_product(rebuild, imaginary, part, &[1]);
        re = rebuild.binary(BinaryOp::Subtract, re, square);
        let down = marked_product(rebuild, real, part, &[1]);
        im = rebuild.binary(BinaryOp::Add, im, down);
    }
    Parts { re, im: Some(im) }
}

/// As [`product`], by a dot that says what it multiplies by.
fn marked_product(
    rebuild: &mut Rebuild<'_>,
    (matrix, elements): Elements,
    columns: InstrId,
    summed: &[i64],
) -> InstrId {
    let dot = product(rebuild, elements, columns, summed);
    let (name, value) = matrix.attribute();
    rebuild.say(dot, name, &value);
    dot
}

/// The sums of products of the last dimensions of a matrix with these of columns: those of the matrix that are left, then those of the columns.
pub(super) fn product(rebuild: &mut Rebuild<'_>, matrix: InstrId, columns: InstrId, summed: &[i64]) -> InstrId {
    let (matrix_shape, shape) = (rebuild.array(matrix).clone(), rebuild.array(columns).clone());
    let first = matrix_shape.rank() - summed.len();
    let kept =
        (0..).zip(&shape.extents).filter(|(dimension, _)| !summed.contains(dimension)).map(|(_, extent)| *extent);
    let extents: Vec<i64> = matrix_shape.extents[..first].iter().copied().chain(kept).collect();
    let op = Op::Dot {
        lhs_batch_dims: Vec::new(),
        lhs_contracting_dims: (first as i64..matrix_shape.rank() as i64).collect(),
        rhs_batch_dims: Vec::new(),
        rhs_contracting_dims: summed.to_vec(),
        operand_precision: vec![Precision::Highest; 2],
        algorithm: None,
    };
    rebuild.add(Shape::array(shape.element_type, extents), op, vec![matrix, columns])
}
