//! Windows that move over an array: `reduce-window` and `select-and-scatter`.

use super::call::Call;
use super::fold::{Groups, fold, scalar};
use super::movement::{Walk, extents, row_major_strides};
use super::work::{Stop, filled};
use crate::ir::{ArrayShape, ComputationId, Data, Scalar, Window, WindowDimension};

const VERIFIED: &str = "the verifier has seen to the operands of every instruction";

/// Folds the elements under the window at each of its positions; padding and holes are passed over.
pub(super) fn reduce_window(call: &Call<'_, '_>, window: &Window, to_apply: ComputationId) -> Result<Vec<Data>, Stop> {
    fold(call, &Windows::new(window, call.shape(0), call.results()[0]), to_apply)
}

/// For each position of the window in turn, the source's element goes to the element under the window that `select` keeps.
///
/// `select` is given the element kept so far, at first the first one, and the next; `scatter` the source's element and
/// what is there. A window that lies over padding alone puts its element nowhere.
pub(super) fn select_and_scatter(
    call: &Call<'_, '_>,
    window: &Window,
    select: ComputationId,
    scatter: ComputationId,
) -> Result<Data, Stop> {
    let (operand, source) = (call.data(0), call.data(1));
    let windows = Windows::new(window, call.shape(0), call.shape(1));
    let mut result = filled(extents(call.result()).iter().product(), scalar(call.data(2), 0))?;
    let (mut select, mut scatter) = (call.region(select), call.region(scatter));
    for number in 0..windows.count() {
        let mut kept: Option<usize> = None;
        windows.visit(number, |position| {
            call.work().go_on()?;
            let keeps = match kept {
                Some(kept) => select.apply(&[scalar(operand, kept), scalar(operand, position)])?[0],
                None => Scalar::Pred(false),
            };
            if keeps == Scalar::Pred(false) {
                kept = Some(position);
            }
            Ok(())
        })?;
        if let Some(kept) = kept {
            let combined = scatter.apply(&[scalar(source, number), scalar(&result, kept)])?[0];
            result.set(kept, combined).expect(VERIFIED);
        }
    }
    Ok(result)
}

/// The positions of a window over an array.
struct Windows {
    /// How many positions there are along each dimension.
    positions: Vec<usize>,
    dimensions: Vec<Along>,
    /// Whether the window moves along the last dimension alone, and lies over its first element wherever it lies over any: a cumulative fold.
    is_cumulative: bool,
}

impl Windows {
    fn new(window: &Window, base: &ArrayShape, positions: &ArrayShape) -> Self {
        let extents_of_base = extents(base);
        let strides = row_major_strides(&extents_of_base);
        let all = window.dimensions.iter().zip(extents_of_base.into_iter().zip(strides));
        let (positions, dimensions) =
            (extents(positions), all.map(|(window, (extent, stride))| Along::new(window, extent, stride)));
        let dimensions: Vec<Along> = dimensions.collect();
        let is_cumulative = match window.dimensions.split_last() {
            Some((last, others)) => {
                let is_dense = last.stride == 1 && last.window_dilation == 1 && last.base_dilation == 1;
                let count = positions.last().copied().unwrap_or(0) as i128;
                is_dense
                    && others.iter().all(|own| *own == WindowDimension::default())
                    && count <= i128::from(last.padding_low) + 1
            }
            None => false,
        };
        Windows { positions, dimensions, is_cumulative }
    }
}

impl Groups for Windows {
    fn count(&self) -> usize {
        self.positions.iter().product()
    }

    fn size(&self) -> usize {
        if self.is_cumulative {
            return 1;
        }
        self.dimensions.iter().map(|along| along.extent.min(along.size) as usize).product()
    }

    fn visit(&self, number: usize, mut member: impl FnMut(usize) -> Result<(), Stop>) -> Result<(), Stop> {
        let rank = self.positions.len();
        let (mut rest, mut base, mut counts, mut strides) = (number, 0, vec![0; rank], vec![0; rank]);
        for (dimension, along) in self.dimensions.iter().enumerate().rev() {
            let positions = self.positions[dimension];
            let covered = along.covered((rest % positions) as i128);
            rest /= positions;
            if covered.count == 0 {
                return Ok(());
            }
            counts[dimension] = covered.count as usize;
            // A step that is never taken may be too large to be multiplied.
            strides[dimension] = if covered.count > 1 { along.step as isize * along.stride } else { 0 };
            base += covered.first as isize * along.stride;
        }
        let mut walk = Walk::new(&counts, &strides, base, 0);
        (0..counts.iter().product()).try_for_each(|_| member(walk.step()))
    }

    fn goes_on(&self, number: usize) -> bool {
        self.is_cumulative && self.positions.last().is_some_and(|positions| !number.is_multiple_of(*positions))
    }

    fn visit_further(&self, number: usize, mut member: impl FnMut(usize) -> Result<(), Stop>) -> Result<(), Stop> {
        let (Some(along), Some(positions)) = (self.dimensions.last(), self.positions.last()) else { return Ok(()) };
        // The other dimensions have as many positions as elements.
        let (row, position) = (number / positions, (number % positions) as i128);
        let [before, own] = [position - 1, position].map(|position| along.covered(position).count);
        (before..own).try_for_each(|element| member(row * along.extent as usize + element as usize))
    }
}

/// One dimension of a window and of the array that it moves over.
///
/// Element `i` of the array lies at `i * base_dilation`, element `w` of the window in position `p` at
/// `p * stride - padding_low + w * window_dilation`. Of all that is multiplied here each factor has at most 64 bits and
/// each product 127, so that nothing overflows.
struct Along {
    extent: i128,
    size: i128,
    stride_of_window: i128,
    padding_low: i128,
    base_dilation: i128,
    window_dilation: i128,
    /// The greatest common divisor of the dilations.
    divisor: i128,
    /// How far apart elements of the array that elements of the window meet lie.
    step: i128,
    /// `base_dilation / divisor` times this is 1 modulo `step`.
    inverse: i128,
    /// How far apart neighbours lie in the array's row-major order.
    stride: isize,
}

/// The elements of the array, along one dimension, that elements of the window meet: `first + n * step` for `n` in
/// `0..count`.
struct Covered {
    first: i128,
    count: i128,
}

impl Along {
    fn new(window: &WindowDimension, extent: usize, stride: isize) -> Self {
        let (base_dilation, window_dilation) = (i128::from(window.base_dilation), i128::from(window.window_dilation));
        let (divisor, inverse) = invert(base_dilation, window_dilation);
        Along {
            extent: extent as i128,
            size: i128::from(window.size),
            stride_of_window: i128::from(window.stride),
            padding_low: i128::from(window.padding_low),
            base_dilation,
            window_dilation,
            divisor,
            step: window_dilation / divisor,
            inverse,
            stride,
        }
    }

    /// Solves `i * base_dilation = start + w * window_dilation` for `i` and `w` within their ranges.
    fn covered(&self, position: i128) -> Covered {
        let nothing = Covered { first: 0, count: 0 };
        let start = position * self.stride_of_window - self.padding_low;
        if start % self.divisor != 0 {
            return nothing;
        }
        // 0 <= w < size, and the element is one of the array.
        let least = (start + self.base_dilation - 1).div_euclid(self.base_dilation).max(0);
        let end = start + (self.size - 1) * self.window_dilation;
        let greatest = end.div_euclid(self.base_dilation).min(self.extent - 1);
        // i = start / divisor * inverse, modulo step.
        let residue = (start / self.divisor).rem_euclid(self.step) * self.inverse;
        let first = least + (residue - least).rem_euclid(self.step);
        match first > greatest {
            true => nothing,
            false => Covered { first, count: (greatest - first) / self.step + 1 },
        }
    }
}

/// The greatest common divisor `g` of two positive numbers, and `x` in `0..b / g` with `a / g * x = 1` modulo `b / g`, by
/// Euclid's algorithm.
fn invert(a: i128, b: i128) -> (i128, i128) {
    // In each pair the remainder is `a` times the factor, modulo b.
    let ((mut remainder, mut factor), (mut next, mut next_factor)) = ((a, 1), (b, 0));
    while next != 0 {
        let quotient = remainder / next;
        (remainder, next) = (next, remainder - quotient * next);
        (factor, next_factor) = (next_factor, factor - quotient * next_factor);
    }
    (remainder, factor.rem_euclid(b / remainder))
}
