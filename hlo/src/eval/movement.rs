//! Operations that move elements without computing with them.
//!
//! Most of them read the operand at `base + sum of index[d] * stride[d]`, for the result's index.

use super::call::Call;
use super::product::rounded;
use super::scalar::Number;
use super::work::{Stop, Work, splat, words, words_as};
use crate::ir::{ArrayShape, Data, ElementType, PadDimension, SliceDimension, Word, words_of};

/// The extents as `usize`. They fit: the number of bytes has been checked, and where an extent is 0 no other is used.
pub(super) fn extents(shape: &ArrayShape) -> Vec<usize> {
    if shape.extents.contains(&0) {
        return vec![0; shape.rank()];
    }
    shape.extents.iter().map(|&extent| usize::try_from(extent).expect("the size in bytes has been checked")).collect()
}

/// How far apart neighbours along each dimension lie in row-major order.
pub(super) fn row_major_strides(extents: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; extents.len()];
    for dimension in (1..extents.len()).rev() {
        strides[dimension - 1] = strides[dimension] * extents[dimension] as isize;
    }
    strides
}

/// The positions `base + sum of index[d] * stride[d]`, for indices in row-major order.
pub(super) struct Walk<'a> {
    extents: &'a [usize],
    strides: &'a [isize],
    index: Vec<usize>,
    position: isize,
}

impl<'a> Walk<'a> {
    /// Begins at the index with the row-major number `start`.
    pub(super) fn new(extents: &'a [usize], strides: &'a [isize], base: isize, start: usize) -> Self {
        let mut index = vec![0; extents.len()];
        let (mut rest, mut position) = (start, base);
        for dimension in (0..extents.len()).rev() {
            index[dimension] = rest % extents[dimension].max(1);
            rest /= extents[dimension].max(1);
            position += index[dimension] as isize * strides[dimension];
        }
        Walk { extents, strides, index, position }
    }

    /// The index that the walk is at.
    pub(super) fn index(&self) -> &[usize] {
        &self.index
    }

    /// The position, and a step to the next index.
    pub(super) fn step(&mut self) -> usize {
        let here = self.position;
        let mut dimension = self.extents.len();
        // Iterators are calls in builds that are not optimized much, and every element of the evaluator comes by here.
        while dimension > 0 {
            dimension -= 1;
            self.index[dimension] += 1;
            self.position += self.strides[dimension];
            if self.index[dimension] < self.extents[dimension] {
                break;
            }
            self.position -= self.strides[dimension] * self.index[dimension] as isize;
            self.index[dimension] = 0;
        }
        here as usize
    }
}

/// The elements of an operand at the positions of a walk.
pub(super) fn read(
    work: &Work,
    operand: &Data,
    element_type: ElementType,
    extents: &[usize],
    strides: &[isize],
    base: isize,
) -> Result<Data, Stop> {
    words_of!(words(operand), source, W => {
        let values = work.fill(extents.iter().product(), |start, values: &mut [W]| {
            let mut walk = Walk::new(extents, strides, base, start);
            for value in values {
                *value = source[walk.step()];
            }
        })?;
        Ok(W::data(values, element_type))
    })
}

/// The elements of an operand at the position given for each of `count` elements.
pub(super) fn take(
    work: &Work,
    operand: &Data,
    element_type: ElementType,
    count: usize,
    position: &(dyn Fn(usize) -> usize + Sync),
) -> Result<Data, Stop> {
    words_of!(words(operand), source, W => {
        let values = work.fill(count, |start, values: &mut [W]| {
            for (offset, value) in values.iter_mut().enumerate() {
                *value = source[position(start + offset)];
            }
        })?;
        Ok(W::data(values, element_type))
    })
}

pub(super) fn iota(call: &Call<'_, '_>, dimension: usize) -> Result<Data, Stop> {
    let extents = extents(call.result());
    let mut strides = vec![0; extents.len()];
    strides[dimension] = 1;
    // One line of numbers, read again and again.
    let (work, element_type) = (call.work(), call.result().element_type);
    let line = rounded(work, element_type, extents[dimension], &|position| Number::Integer(position as i128))?;
    read(work, &line, element_type, &extents, &strides, 0)
}

pub(super) fn broadcast(call: &Call<'_, '_>, dimensions: &[i64]) -> Result<Data, Stop> {
    let (sources, extents) = (row_major_strides(&extents(call.shape(0))), extents(call.result()));
    let mut strides = vec![0; extents.len()];
    for (&target, source) in dimensions.iter().zip(sources) {
        strides[target as usize] = source;
    }
    read(call.work(), call.data(0), call.result().element_type, &extents, &strides, 0)
}

/// Result dimension `i` is operand dimension `permutation[i]`.
pub(super) fn transpose(work: &Work, permutation: &[usize], shape: &ArrayShape, operand: &Data) -> Result<Data, Stop> {
    let sources = extents(shape);
    let source_strides = row_major_strides(&sources);
    let extents: Vec<usize> = permutation.iter().map(|&source| sources[source]).collect();
    let strides: Vec<isize> = permutation.iter().map(|&source| source_strides[source]).collect();
    read(work, operand, shape.element_type, &extents, &strides, 0)
}

/// The elements in the order they lie in memory under the operand's layout are those under the result's layout.
pub(super) fn bitcast(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let (work, shape, result) = (call.work(), call.shape(0), call.result());
    let mut major_to_minor = shape.minor_to_major();
    major_to_minor.reverse();
    let in_memory = transpose(work, &major_to_minor, shape, call.data(0))?;
    let retyped = super::conversion::reinterpret(work, &in_memory, result.element_type)?;
    // The result's elements as memory orders them, and where each of its dimensions went there.
    let mut order = result.minor_to_major();
    order.reverse();
    let extents: Vec<i64> = order.iter().map(|&dimension| result.extents[dimension]).collect();
    let mut back = vec![0; order.len()];
    for (position, &dimension) in order.iter().enumerate() {
        back[dimension] = position;
    }
    transpose(work, &back, &ArrayShape::new(result.element_type, extents), &retyped)
}

pub(super) fn slice(call: &Call<'_, '_>, dimensions: &[SliceDimension]) -> Result<Data, Stop> {
    let (sources, extents) = (row_major_strides(&extents(call.shape(0))), extents(call.result()));
    let element_type = call.result().element_type;
    if extents.contains(&0) {
        return read(call.work(), call.data(0), element_type, &extents, &sources, 0);
    }
    let base = dimensions.iter().zip(&sources).map(|(part, stride)| part.start as isize * stride).sum();
    // A stride past the end is never taken, but it must not overflow.
    let strides: Vec<isize> = dimensions
        .iter()
        .zip(sources.iter().zip(&extents))
        .map(|(part, (stride, &extent))| if extent > 1 { part.stride as isize * stride } else { 0 })
        .collect();
    read(call.work(), call.data(0), element_type, &extents, &strides, base)
}

pub(super) fn reverse(call: &Call<'_, '_>, dimensions: &[i64]) -> Result<Data, Stop> {
    let extents = extents(call.shape(0));
    let mut strides = row_major_strides(&extents);
    let mut base = 0;
    for &dimension in dimensions {
        let dimension = dimension as usize;
        base += strides[dimension] * (extents[dimension].max(1) as isize - 1);
        strides[dimension] = -strides[dimension];
    }
    read(call.work(), call.data(0), call.result().element_type, &extents, &strides, base)
}

pub(super) fn pad(call: &Call<'_, '_>, padding: &[PadDimension]) -> Result<Data, Stop> {
    let padded = Padded::new(padding, &extents(call.shape(0)), &extents(call.result()));
    words_of!(words(call.data(0)), source, W => {
        Ok(W::data(padded.write(source, words_as::<W>(call.data(1))[0])?, call.result().element_type))
    })
}

/// Which elements of an operand remain when it is padded, and where they go.
struct Padded {
    count: usize,
    kept: Vec<usize>,
    from: (isize, Vec<isize>),
    to: (isize, Vec<isize>),
}

impl Padded {
    fn new(padding: &[PadDimension], sources: &[usize], targets: &[usize]) -> Self {
        let (source_strides, target_strides) = (row_major_strides(sources), row_major_strides(targets));
        let mut padded = Padded {
            count: targets.iter().product(),
            kept: Vec::new(),
            from: (0, source_strides.clone()),
            to: (0, Vec::new()),
        };
        for (dimension, padding) in padding.iter().enumerate() {
            // Element i goes to low + i * step, which must lie in 0..target. In 128 bits nothing overflows.
            let (low, step) = (i128::from(padding.low), i128::from(padding.interior) + 1);
            let first = if low < 0 { (-low + step - 1) / step } else { 0 };
            let past = (targets[dimension] as i128 - low + step - 1).max(0) / step;
            let past = past.min(sources[dimension] as i128);
            let kept = (past - first).max(0) as usize;
            padded.kept.push(kept);
            if kept > 0 {
                padded.from.0 += first as isize * source_strides[dimension];
                padded.to.0 += (low + first * step) as isize * target_strides[dimension];
            }
            padded.to.1.push(if kept > 1 { step as isize * target_strides[dimension] } else { 0 });
        }
        padded
    }

    fn write<W: Word>(&self, source: &[W], value: W) -> Result<Vec<W>, Stop> {
        let mut values = splat(self.count, value)?;
        let mut from = Walk::new(&self.kept, &self.from.1, self.from.0, 0);
        let mut to = Walk::new(&self.kept, &self.to.1, self.to.0, 0);
        for _ in 0..self.kept.iter().product() {
            values[to.step()] = source[from.step()];
        }
        Ok(values)
    }
}

pub(super) fn concatenate(call: &Call<'_, '_>, dimension: usize) -> Result<Data, Stop> {
    let rows = extents(call.result())[..dimension].iter().product();
    words_of!(words(call.data(0)), _, W => {
        let parts = call.operands.iter().map(|(shape, data)| {
            (extents(shape)[dimension..].iter().product(), words_as::<W>(data))
        });
        Ok(W::data(join(rows, &parts.collect::<Vec<_>>())?, call.result().element_type))
    })
}

/// `rows` rows, each made of one piece of every part; a part is given with the length of its pieces.
fn join<W: Word>(rows: usize, parts: &[(usize, &[W])]) -> Result<Vec<W>, Stop> {
    let mut values = Vec::new();
    values.try_reserve_exact(parts.iter().map(|(_, part)| part.len()).sum())?;
    for row in 0..rows {
        for (length, part) in parts {
            values.extend_from_slice(&part[row * length..(row + 1) * length]);
        }
    }
    Ok(values)
}
