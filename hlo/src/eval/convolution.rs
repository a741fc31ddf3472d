//! Convolutions.
//!
//! What padding adds and what dilation puts between elements is not multiplied, so that an infinity in the kernel beside it
//! does not make a NaN. Products are added over the positions in the window, in row-major order, and at each of them over
//! the input's features. `convolution_kind` says what a convolution was written as and changes nothing.

use super::call::Call;
use super::movement::{extents, row_major_strides, transpose};
use super::product::{Axes, Sums, Term, accumulated, bytes_of, finish, reader, zeros};
use super::scalar::Element;
use super::work::Stop;
use crate::ir::{ArrayShape, ConvolutionDimensions, Data, Op, Window, WindowDimension};

const VERIFIED: &str = "the verifier has seen to the labels and the window of convolutions";

pub(super) fn convolution(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let Op::Convolution { window, dim_labels, feature_group_count, batch_group_count, .. } = call.op() else {
        unreachable!("{VERIFIED}")
    };
    let (input, kernel, result) = (call.shape(0), call.shape(1), call.result());
    if [input, kernel, result].into_iter().any(|shape| shape.extents.contains(&0)) {
        return zeros(call.work(), result);
    }
    let groups = (*feature_group_count as usize, *batch_group_count as usize);
    Convolution::new(window, dim_labels, groups, [input, kernel, result]).compute(call)
}

/// A convolution whose input, kernel and result have elements.
struct Convolution<'a> {
    window: &'a Window,
    /// How the input is read along its space and along its features.
    space: Axes,
    feature_stride: usize,
    /// Features of the input that belong to one group.
    features: usize,
    /// The rows of sums: group, batch, space.
    rows: Axes,
    /// The kernel as a matrix, of which the rows are group, space and input feature, and the columns the output features of
    /// the group; and where its first element is.
    matrix: Axes,
    first: isize,
    columns: usize,
    /// Where the dimensions of the result are in group, batch, space, column.
    order: Vec<usize>,
}

impl<'a> Convolution<'a> {
    fn new(
        window: &'a Window,
        labels: &ConvolutionDimensions,
        (feature_groups, batch_groups): (usize, usize),
        [input, kernel, result]: [&ArrayShape; 3],
    ) -> Self {
        let dimension = |label: i64| label as usize;
        let space = |labels: &[i64]| labels.iter().map(|&label| label as usize).collect::<Vec<usize>>();
        let (batch, feature) = (dimension(labels.input_batch), dimension(labels.input_feature));
        let (from, to) = (dimension(labels.kernel_input_feature), dimension(labels.kernel_output_feature));
        let (output_batch, output_space) = (dimension(labels.output_batch), space(&labels.output_spatial));
        let (input_strides, kernel_strides) = (row_major_strides(&extents(input)), row_major_strides(&extents(kernel)));
        // At most one of the two counts is more than 1.
        let groups = feature_groups.max(batch_groups);
        let features = extents(kernel)[from];
        let columns = extents(kernel)[to] / groups;
        let batches = extents(result)[output_batch];
        let group_stride = match batch_groups {
            1 => features * input_strides[feature] as usize,
            _ => batches * input_strides[batch] as usize,
        };

        let outputs = Axes::new(result, &output_space).extents;
        let mut rows =
            Axes { extents: vec![groups, batches], strides: vec![group_stride as isize, input_strides[batch]] };
        rows.strides.resize(2 + outputs.len(), 0);
        rows.extents.extend(outputs);

        let mut matrix = Axes::new(kernel, &[&space(&labels.kernel_spatial)[..], &[from, to]].concat());
        let mut first = 0;
        for (entry, (&size, stride)) in window.dimensions.iter().zip(matrix.extents.iter().zip(&mut matrix.strides)) {
            if entry.reversal {
                first += *stride * (size as isize - 1);
                *stride = -*stride;
            }
        }
        let last = matrix.extents.len() - 1;
        matrix.extents[last] = columns;
        matrix.extents.insert(0, groups);
        matrix.strides.insert(0, columns as isize * kernel_strides[to]);

        let mut order = Vec::with_capacity(result.rank() + 1);
        for at in 0..result.rank() {
            match output_space.iter().position(|&dimension| dimension == at) {
                Some(number) => order.push(2 + number),
                None if at == output_batch => order.push(1),
                None => order.extend([0, 2 + output_space.len()]),
            }
        }
        Convolution {
            window,
            space: Axes::new(input, &space(&labels.input_spatial)),
            feature_stride: input_strides[feature] as usize,
            features,
            rows,
            matrix,
            first,
            columns,
            order,
        }
    }

    fn compute(&self, call: &Call<'_, '_>) -> Result<Data, Stop> {
        let (work, result) = (call.work(), call.result());
        let types = [call.shape(0).element_type, call.shape(1).element_type, result.element_type];
        let rank = self.window.dimensions.len();
        let taps = Axes { extents: self.matrix.extents[1..=rank].to_vec(), strides: vec![0; rank] };
        let (input, read) = (call.data(0), reader(types[0]));
        accumulated!(types, A => {
            let count = self.rows.count() * self.columns;
            let terms = taps.count() * self.features;
            let _bytes = work.reserve(bytes_of::<A>(self.matrix.count()).saturating_add(bytes_of::<A>(count)))?;
            let _more = work.reserve(bytes_of::<A>(count))?;
            let matrix: Vec<A> = self.matrix.read(work, call.data(1), types[1], self.first)?;
            let sums = Sums { rows: self.rows.count(), columns: self.columns, terms };
            let sums = sums.compute(work, &matrix, &|row, terms_of_row: &mut Vec<Term<A>>| {
                let mut place = self.rows.walk_from(row);
                let group = place.index()[0];
                let position = place.index()[2..].to_vec();
                let base = place.step();
                let mut tap = taps.walk(0);
                for number in 0..taps.count() {
                    if let Some(offset) = self.source(&position, tap.index()) {
                        let source = (group * taps.count() + number) * self.features;
                        terms_of_row.extend((0..self.features).map(|feature| {
                            (source + feature, A::of(read(input, base + offset + feature * self.feature_stride)))
                        }));
                    }
                    tap.step();
                }
            })?;
            let sums = finish(work, sums, result.element_type)?;
            let extents: Vec<i64> =
                self.rows.extents.iter().chain([&self.columns]).map(|&extent| extent as i64).collect();
            transpose(work, &self.order, &ArrayShape::new(result.element_type, extents), &sums)
        })
    }

    /// Where the window's element `tap` is in the input's space when the window is at `position`; nowhere in padding and
    /// between elements.
    fn source(&self, position: &[usize], tap: &[usize]) -> Option<usize> {
        let mut offset = 0;
        for (dimension, entry) in self.window.dimensions.iter().enumerate() {
            let element = element(entry, position[dimension], tap[dimension])?;
            if element >= self.space.extents[dimension] {
                return None;
            }
            offset += element * self.space.strides[dimension] as usize;
        }
        Some(offset)
    }
}

/// Which element along a dimension of the base, if the base goes that far.
fn element(entry: &WindowDimension, position: usize, tap: usize) -> Option<usize> {
    // In 128 bits nothing overflows.
    let moved = position as i128 * i128::from(entry.stride) + tap as i128 * i128::from(entry.window_dilation);
    let place = u64::try_from(moved - i128::from(entry.padding_low)).ok()?;
    let dilation = entry.base_dilation as u64;
    if place % dilation == 0 { usize::try_from(place / dilation).ok() } else { None }
}
