//! Dot products.
//!
//! `algorithm` and `operand_precision` allow a target to be less exact; neither changes anything here.

use super::call::Call;
use super::movement::extents;
use super::product::{Axes, Sums, Term, accumulated, bytes_of, finish, reader, zeros};
use super::scalar::Element;
use super::work::{Stop, Work};
use crate::ir::{ArrayShape, Data, Op};

const VERIFIED: &str = "the verifier has seen to the dimension numbers of dot products";

/// `dot`: batch dimensions, those of the left operand that remain, those of the right one; summed over the contracting
/// dimensions in row-major order.
pub(super) fn dot(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let factors = Factors::new(call.op(), call.operands[0], call.operands[1]);
    factors.dot(call.work(), call.result())
}

/// The two factors of a dot product, with what their dimensions are for.
pub(super) struct Factors<'a> {
    pub(super) left: Factor<'a>,
    pub(super) right: Factor<'a>,
}

/// One of two factors.
pub(super) struct Factor<'a> {
    pub(super) shape: &'a ArrayShape,
    pub(super) data: &'a Data,
    pub(super) batch: Vec<usize>,
    /// Those summed over.
    pub(super) summed: Vec<usize>,
    /// All others, ascending.
    pub(super) free: Vec<usize>,
}

impl<'a> Factor<'a> {
    fn new((shape, data): (&'a ArrayShape, &'a Data), batch: &[i64], summed: &[i64]) -> Self {
        let dimensions = |numbers: &[i64]| numbers.iter().map(|&number| number as usize).collect::<Vec<usize>>();
        let (batch, summed) = (dimensions(batch), dimensions(summed));
        let free = (0..shape.rank()).filter(|number| !batch.contains(number) && !summed.contains(number)).collect();
        Factor { shape, data, batch, summed, free }
    }

    /// Whether there are no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.shape.extents.contains(&0)
    }
}

impl<'a> Factors<'a> {
    pub(super) fn new(op: &Op, left: (&'a ArrayShape, &'a Data), right: (&'a ArrayShape, &'a Data)) -> Self {
        let (Op::Dot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }
        | Op::RaggedDot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }
        | Op::ScaledDot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }) = op
        else {
            unreachable!("{VERIFIED}")
        };
        Factors {
            left: Factor::new(left, lhs_batch_dims, lhs_contracting_dims),
            right: Factor::new(right, rhs_batch_dims, rhs_contracting_dims),
        }
    }

    pub(super) fn dot(&self, work: &Work, result: &ArrayShape) -> Result<Data, Stop> {
        let Factors { left, right } = self;
        if left.is_empty() || right.is_empty() {
            return zeros(work, result);
        }
        let types = [left.shape.element_type, right.shape.element_type, result.element_type];
        accumulated!(types, A => {
            let matrix = Axes::new(right.shape, &[&right.batch[..], &right.summed, &right.free].concat());
            let rows = Axes::new(left.shape, &[&left.batch[..], &left.free].concat());
            let summed = Axes::new(left.shape, &left.summed);
            let free = Axes::new(left.shape, &left.free).count();
            let sums = Sums {
                rows: rows.count(),
                columns: Axes::new(right.shape, &right.free).count(),
                terms: summed.count(),
            };
            let count = extents(result).iter().product();
            let _bytes = work.reserve(bytes_of::<A>(matrix.count()).saturating_add(bytes_of::<A>(count)))?;
            let matrix: Vec<A> = matrix.read(work, right.data, right.shape.element_type, 0)?;
            let read = reader(left.shape.element_type);
            let sums = sums.compute(work, &matrix, &|row, terms: &mut Vec<Term<A>>| {
                let batch = row / free;
                let mut factors = summed.walk(rows.position(row));
                let sources = batch * sums.terms..(batch + 1) * sums.terms;
                terms.extend(sources.map(|source| (source, A::of(read(left.data, factors.step())))));
            })?;
            finish(work, sums, result.element_type)
        })
    }
}
