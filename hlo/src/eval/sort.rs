//! `sort`: stable, by any comparator, of several operands.

use super::call::{Applied, Call};
use super::fold::scalar;
use super::movement::{extents, take};
use super::work::{PIECE, Stop, splat};
use crate::ir::{ArrayShape, ComputationId, Data, Scalar};

/// The operands, with the elements along a dimension in the order that the comparator puts them in.
///
/// Equal elements keep their order. Whatever the comparator answers, the results hold the same elements, and any two
/// machines put them in the same order.
pub(super) fn sort(call: &Call<'_, '_>, dimension: usize, to_apply: ComputationId) -> Result<Vec<Data>, Stop> {
    let places = extents(call.shape(0))[dimension];
    sorted(call, call.operands.len(), dimension, to_apply, places)
}

/// The first elements along a dimension, as many as there are places, of the first operands, as many as there are inputs, in that order.
pub(super) fn sorted(
    call: &Call<'_, '_>,
    inputs: usize,
    dimension: usize,
    to_apply: ComputationId,
    places: usize,
) -> Result<Vec<Data>, Stop> {
    let rows = Rows::new(&extents(call.shape(0)), dimension);
    let to = Rows { length: places, ..rows };
    let (count, length) = (rows.count(), rows.length.max(1));
    let _scratch = call.work().reserve_for::<usize>(count.checked_mul(2).ok_or(Stop::OutOfMemory)?)?;
    // Row after row, which element comes first, second, ….
    let orders = call.work().try_fill_by(count, length * (PIECE / length).max(1), |start, orders: &mut [usize]| {
        let mut comparator = Comparator::new(call, to_apply, &rows, inputs);
        let mut buffer = splat(length, 0)?;
        for (offset, order) in orders.chunks_mut(length).enumerate() {
            comparator.row = start / length + offset;
            order.iter_mut().enumerate().for_each(|(place, element)| *element = place);
            merge_sort(order, &mut buffer, &mut |a, b| comparator.is_before(a, b))?;
        }
        Ok(())
    })?;
    let source = |position: usize| {
        let (row, place) = to.place(position);
        rows.position(row, orders[row * rows.length + place])
    };
    let sorted =
        |(shape, data): &(&ArrayShape, &Data)| take(call.work(), data, shape.element_type, to.count(), &source);
    call.operands[..inputs].iter().map(sorted).collect()
}

/// The lines along one dimension of an array.
#[derive(Copy, Clone)]
pub(super) struct Rows {
    /// The product of the extents before the dimension.
    outer: usize,
    /// The extent of the dimension.
    pub(super) length: usize,
    /// The product of the extents behind the dimension.
    inner: usize,
}

impl Rows {
    pub(super) fn new(extents: &[usize], dimension: usize) -> Self {
        Rows {
            outer: extents[..dimension].iter().product(),
            length: extents[dimension],
            inner: extents[dimension + 1..].iter().product(),
        }
    }

    /// How many elements all lines have.
    pub(super) fn count(&self) -> usize {
        self.outer * self.length * self.inner
    }

    /// Where an element of a row lies.
    pub(super) fn position(&self, row: usize, place: usize) -> usize {
        (row / self.inner * self.length + place) * self.inner + row % self.inner
    }

    /// The row of the element that lies at a position, and its place there.
    pub(super) fn place(&self, position: usize) -> (usize, usize) {
        let (outer, within) = (position / (self.length * self.inner), position % (self.length * self.inner));
        (outer * self.inner + within % self.inner, within / self.inner)
    }
}

/// The computation that compares the elements of a row.
pub(super) struct Comparator<'k, 'c, 'a> {
    call: &'k Call<'c, 'a>,
    region: Applied<'c, 'a>,
    rows: &'k Rows,
    /// How many of the operands are compared.
    inputs: usize,
    pub(super) row: usize,
    arguments: Vec<Scalar>,
}

impl<'k, 'c, 'a> Comparator<'k, 'c, 'a> {
    pub(super) fn new(call: &'k Call<'c, 'a>, to_apply: ComputationId, rows: &'k Rows, inputs: usize) -> Self {
        Comparator { call, region: call.region(to_apply), rows, inputs, row: 0, arguments: Vec::new() }
    }

    /// Whether the element at place `a` comes before that at place `b`.
    pub(super) fn is_before(&mut self, a: usize, b: usize) -> Result<bool, Stop> {
        self.call.work().go_on()?;
        let (a, b) = (self.rows.position(self.row, a), self.rows.position(self.row, b));
        self.arguments.clear();
        for (_, data) in &self.call.operands[..self.inputs] {
            self.arguments.extend([scalar(data, a), scalar(data, b)]);
        }
        Ok(self.region.apply(&self.arguments)?[0] == Scalar::Pred(true))
    }
}

/// Merges runs of 1, 2, 4, … elements. An element comes before one that stood in front of it only where `is_before` says
/// so, which keeps the order of equal elements; each pair is asked about at most once, and nothing else depends on the
/// answers.
fn merge_sort<E>(
    order: &mut [usize],
    buffer: &mut [usize],
    is_before: &mut impl FnMut(usize, usize) -> Result<bool, E>,
) -> Result<(), E> {
    let mut width = 1;
    while width < order.len() {
        for (pair, merged) in order.chunks(2 * width).zip(buffer.chunks_mut(2 * width)) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            for slot in merged {
                let from = match (left.first(), right.first()) {
                    (Some(&a), Some(&b)) if is_before(b, a)? => &mut right,
                    (Some(_), _) => &mut left,
                    (None, _) => &mut right,
                };
                let (&first, rest) = from.split_first().expect("both runs together fill what they are merged into");
                (*slot, *from) = (first, rest);
            }
        }
        order.copy_from_slice(buffer);
        width *= 2;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::merge_sort;
    use std::convert::Infallible;

    fn sorted(count: usize, mut is_before: impl FnMut(usize, usize) -> bool) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        let Ok(()) = merge_sort(&mut order, &mut vec![0; count], &mut |a, b| Ok::<bool, Infallible>(is_before(a, b)));
        order
    }

    #[test]
    fn a_merge_sort_agrees_with_the_standard_library_s_stable_sort() {
        for count in 0..70 {
            let key = |element: usize| element * 7919 % 11;
            let mut wanted: Vec<usize> = (0..count).collect();
            wanted.sort_by_key(|&element| key(element));
            assert_eq!(sorted(count, |a, b| key(a) < key(b)), wanted);
        }
    }

    #[test]
    fn any_answers_lead_to_a_permutation_and_no_pair_is_asked_about_twice() {
        for count in [2, 3, 17, 64, 65] {
            for answers in 0..50u64 {
                let mut asked = std::collections::BTreeSet::new();
                let mut permutation = sorted(count, |a, b| {
                    assert!(asked.insert((a.min(b), a.max(b))));
                    (a as u64 * 31 + b as u64 * 17 + answers).is_multiple_of(1 + answers % 5)
                });
                permutation.sort_unstable();
                assert_eq!(permutation, (0..count).collect::<Vec<_>>());
            }
        }
    }
}
