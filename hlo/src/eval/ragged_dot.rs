//! `ragged-dot`: dot products with one dimension divided into groups.
//!
//! Group `g` holds the indices from the sum of the sizes before it up to that sum and its own size; an index past all
//! groups, or past the dimension, belongs to none; a size below 0 counts as 0. Where a free dimension of the left operand is cut, the elements of a
//! group are multiplied by the right operand's entry for it, and elements of no group give zeros; where a contracting
//! dimension is cut, there is a product for each group; where a batch dimension is cut, the groups change nothing.

use super::call::Call;
use super::dot::Factors;
use super::movement::{extents, row_major_strides};
use super::product::{Axes, Sums, Term, accumulated, bytes_of, finish, reader, zeros};
use super::scalar::{Element, Number};
use super::value::Reserved;
use super::work::Stop;
use crate::ir::{ArrayShape, Data, Op};

const VERIFIED: &str = "the verifier has seen to the dimension numbers of ragged dot products";

pub(super) fn ragged_dot(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let Op::RaggedDot { lhs_ragged_dims, rhs_group_dims, .. } = call.op() else { unreachable!("{VERIFIED}") };
    let mut factors = Factors::new(call.op(), call.operands[0], call.operands[1]);
    let ragged = lhs_ragged_dims[0] as usize;
    if factors.left.is_empty() || factors.right.is_empty() || call.result().extents.contains(&0) {
        return zeros(call.work(), call.result());
    }
    if factors.left.batch.contains(&ragged) {
        return factors.dot(call.work(), call.result());
    }
    let groups = Groups::new(call, prefix(&factors, ragged))?;
    if factors.left.summed.contains(&ragged) {
        return groups.of_sums(call, &factors, ragged);
    }
    let group = rhs_group_dims[0] as usize;
    factors.right.free.retain(|&dimension| dimension != group);
    groups.of_rows(call, &factors, ragged, group)
}

/// Why an instruction with these operands is not evaluated: the sizes of groups have dimensions of their own that are not
/// those outside of the ragged dimension.
pub(super) fn refusal(op: &Op, operands: &[&ArrayShape]) -> Option<&'static str> {
    let (Op::RaggedDot { lhs_ragged_dims, .. }, [left, right, sizes]) = (op, operands) else { return None };
    let &[ragged] = &lhs_ragged_dims[..] else { return None };
    if sizes.rank() <= 1 {
        return None;
    }
    let nothing = Data::Elided;
    let factors = Factors::new(op, (left, &nothing), (right, &nothing));
    let wanted = usize::try_from(ragged).ok().map(|ragged| prefix(&factors, ragged)).unwrap_or_default();
    let wanted: Vec<Option<&i64>> = wanted.iter().map(|&dimension| left.extents.get(dimension)).collect();
    let given: Vec<Option<&i64>> = sizes.extents[..sizes.rank() - 1].iter().map(Some).collect();
    (wanted != given).then_some(
        "is evaluated where the sizes of groups are one list, or one for each index of the left operand's dimensions \
         outside of the ragged one",
    )
}

/// The dimensions of the left operand for each index of which there may be groups of other sizes.
fn prefix(factors: &Factors<'_>, ragged: usize) -> Vec<usize> {
    let left = &factors.left;
    let outside =
        |dimensions: &[usize]| dimensions.iter().copied().take_while(|&dimension| dimension != ragged).collect();
    let outside: Vec<usize> = match (left.batch.contains(&ragged), left.summed.contains(&ragged)) {
        (true, _) => return outside(&left.batch),
        (_, true) => outside(&left.summed),
        _ => outside(&left.free),
    };
    [&left.batch[..], &outside].concat()
}

/// The groups that a dimension is cut into.
struct Groups {
    /// How many.
    count: usize,
    /// The first index of each group and the one past its last, for each index of the prefix.
    intervals: Vec<(i128, i128)>,
    /// The dimensions for which there are groups of their own, with how far apart in `intervals` they are.
    prefix: Vec<(usize, isize)>,
    _bytes: Reserved,
}

impl Groups {
    fn new(call: &Call<'_, '_>, prefix: Vec<usize>) -> Result<Self, Stop> {
        let sizes = extents(call.shape(2));
        let count = sizes[sizes.len() - 1];
        let read = reader(call.shape(2).element_type);
        let bytes = call.work().reserve(bytes_of::<(i128, i128)>(sizes.iter().product()))?;
        let mut intervals: Vec<(i128, i128)> = Vec::new();
        intervals.try_reserve_exact(sizes.iter().product())?;
        for position in 0..sizes.iter().product() {
            let Number::Integer(size) = read(call.data(2), position) else { unreachable!("{VERIFIED}") };
            let start = if position % count == 0 { 0 } else { intervals[position - 1].1 };
            // At most 2^63 sizes of 64 bits: no overflow of 128 bits.
            intervals.push((start, start + size.max(0)));
        }
        let strides = row_major_strides(&sizes);
        let prefix = if sizes.len() > 1 { prefix.into_iter().zip(strides).collect() } else { Vec::new() };
        Ok(Groups { count, intervals, prefix, _bytes: bytes })
    }

    /// Where in `intervals` those for an index of some dimensions begin, as far as these dimensions say.
    fn starts(&self, axes: &Axes, dimensions: &[usize]) -> Axes {
        axes.restrided(|position| {
            let found = self.prefix.iter().find(|(dimension, _)| *dimension == dimensions[position]);
            found.map_or(0, |&(_, stride)| stride)
        })
    }

    /// Whether an index belongs to the group with an interval.
    fn holds(&self, interval: usize, index: usize) -> bool {
        let (from, to) = self.intervals[interval];
        (from..to).contains(&(index as i128))
    }

    /// The free dimension `ragged` of the left operand is cut.
    fn of_rows(&self, call: &Call<'_, '_>, factors: &Factors<'_>, ragged: usize, group: usize) -> Result<Data, Stop> {
        let (work, Factors { left, right }) = (call.work(), factors);
        let types = [left.shape.element_type, right.shape.element_type, call.result().element_type];
        accumulated!(types, A => {
            let matrix = Axes::new(right.shape, &[&right.batch[..], &[group], &right.summed, &right.free].concat());
            let row_dimensions = [&left.batch[..], &left.free].concat();
            let rows = Axes::new(left.shape, &row_dimensions);
            let index = rows.restrided(|position| isize::from(row_dimensions[position] == ragged));
            let starts = self.starts(&rows, &row_dimensions);
            let summed = Axes::new(left.shape, &left.summed);
            let free = Axes::new(left.shape, &left.free).count();
            let sums = Sums {
                rows: rows.count(),
                columns: Axes::new(right.shape, &right.free).count(),
                terms: summed.count(),
            };
            let count = sums.rows * sums.columns;
            let _bytes = work.reserve(bytes_of::<A>(matrix.count()).saturating_add(bytes_of::<A>(count)))?;
            let matrix: Vec<A> = matrix.read(work, right.data, right.shape.element_type, 0)?;
            let read = reader(left.shape.element_type);
            let sums = sums.compute(work, &matrix, &|row, terms: &mut Vec<Term<A>>| {
                let (batch, start) = (row / free, starts.position(row));
                for group in (0..self.count).filter(|group| self.holds(start + group, index.position(row))) {
                    let mut factors = summed.walk(rows.position(row));
                    let first = (batch * self.count + group) * sums.terms;
                    let sources = first..first + sums.terms;
                    terms.extend(sources.map(|source| (source, A::of(read(left.data, factors.step())))));
                }
            })?;
            finish(work, sums, call.result().element_type)
        })
    }

    /// The contracting dimension `ragged` of the left operand is cut: the groups come first in the result.
    fn of_sums(&self, call: &Call<'_, '_>, factors: &Factors<'_>, ragged: usize) -> Result<Data, Stop> {
        let (work, Factors { left, right }) = (call.work(), factors);
        let types = [left.shape.element_type, right.shape.element_type, call.result().element_type];
        accumulated!(types, A => {
            let matrix = Axes::new(right.shape, &[&right.batch[..], &right.summed, &right.free].concat());
            let row_dimensions = [&left.batch[..], &left.free].concat();
            let rows = Axes::new(left.shape, &row_dimensions);
            let row_starts = self.starts(&rows, &row_dimensions);
            let summed = Axes::new(left.shape, &left.summed);
            let index = summed.restrided(|position| isize::from(left.summed[position] == ragged));
            let summed_starts = self.starts(&summed, &left.summed);
            let free = Axes::new(left.shape, &left.free).count();
            let rows_of_group = rows.count();
            let sums = Sums {
                rows: self.count * rows_of_group,
                columns: Axes::new(right.shape, &right.free).count(),
                terms: summed.count(),
            };
            let count = sums.rows * sums.columns;
            let _bytes = work.reserve(bytes_of::<A>(matrix.count()).saturating_add(bytes_of::<A>(count)))?;
            let matrix: Vec<A> = matrix.read(work, right.data, right.shape.element_type, 0)?;
            let read = reader(left.shape.element_type);
            let sums = sums.compute(work, &matrix, &|row, terms: &mut Vec<Term<A>>| {
                let (group, row) = (row / rows_of_group, row % rows_of_group);
                let batch = row / free;
                let mut factors = summed.walk(rows.position(row));
                let mut starts = summed_starts.walk(row_starts.position(row));
                let mut indices = index.walk(0);
                for source in batch * sums.terms..(batch + 1) * sums.terms {
                    let factor = A::of(read(left.data, factors.step()));
                    if self.holds(starts.step() + group, indices.step()) {
                        terms.push((source, factor));
                    }
                }
            })?;
            finish(work, sums, call.result().element_type)
        })
    }
}
