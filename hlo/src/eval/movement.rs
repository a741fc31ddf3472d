//! Operations that move elements without computing with them.
//!
//! Most of them read the operand at `base + sum of index[d] * stride[d]`, for the result's index.

use super::fill::{fill, splat};
use super::scalar::Element;
use super::value::OutOfMemory;
use crate::ir::{ArrayShape, Data, ElementType, PadDimension, SliceDimension};

const UNDERSTOOD: &str = "the checks let only arrays of understood types through";

/// Does the same to an array of any type.
macro_rules! of_any_type {
    ($data:expr, |$values:ident| $made:expr) => {
        Ok(match $data {
            Data::Pred($values) => Data::Pred($made?),
            Data::S32($values) => Data::S32($made?),
            Data::U32($values) => Data::U32($made?),
            Data::F32($values) => Data::F32($made?),
            _ => unreachable!("{UNDERSTOOD}"),
        })
    };
}

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

    /// The position, and a step to the next index.
    pub(super) fn step(&mut self) -> usize {
        let here = self.position;
        for dimension in (0..self.extents.len()).rev() {
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

fn read<T: Element>(source: &[T], extents: &[usize], strides: &[isize], base: isize) -> Result<Vec<T>, OutOfMemory> {
    Ok(fill(extents.iter().product(), |start, values| {
        let mut walk = Walk::new(extents, strides, base, start);
        for value in values {
            *value = source[walk.step()];
        }
    })?)
}

pub(super) fn iota(dimension: usize, result: &ArrayShape) -> Result<Data, OutOfMemory> {
    let extents = extents(result);
    let mut strides = vec![0; extents.len()];
    strides[dimension] = 1;
    Ok(match result.element_type {
        ElementType::S32 => Data::S32(count(&extents, &strides, |index| index as i32)?),
        ElementType::U32 => Data::U32(count(&extents, &strides, |index| index as u32)?),
        ElementType::F32 => Data::F32(count(&extents, &strides, |index| index as f32)?),
        _ => unreachable!("{UNDERSTOOD}"),
    })
}

fn count<T: Element>(extents: &[usize], strides: &[isize], number: fn(usize) -> T) -> Result<Vec<T>, OutOfMemory> {
    Ok(fill(extents.iter().product(), |start, values| {
        let mut walk = Walk::new(extents, strides, 0, start);
        for value in values {
            *value = number(walk.step());
        }
    })?)
}

pub(super) fn broadcast(
    dimensions: &[i64],
    shape: &ArrayShape,
    operand: &Data,
    result: &ArrayShape,
) -> Result<Data, OutOfMemory> {
    let (sources, extents) = (row_major_strides(&extents(shape)), extents(result));
    let mut strides = vec![0; extents.len()];
    for (&target, source) in dimensions.iter().zip(sources) {
        strides[target as usize] = source;
    }
    of_any_type!(operand, |values| read(values, &extents, &strides, 0))
}

/// Result dimension `i` is operand dimension `permutation[i]`.
pub(super) fn transpose(permutation: &[usize], shape: &ArrayShape, operand: &Data) -> Result<Data, OutOfMemory> {
    let sources = extents(shape);
    let source_strides = row_major_strides(&sources);
    let extents: Vec<usize> = permutation.iter().map(|&source| sources[source]).collect();
    let strides: Vec<isize> = permutation.iter().map(|&source| source_strides[source]).collect();
    of_any_type!(operand, |values| read(values, &extents, &strides, 0))
}

pub(super) fn slice(
    dimensions: &[SliceDimension],
    shape: &ArrayShape,
    operand: &Data,
    result: &ArrayShape,
) -> Result<Data, OutOfMemory> {
    let (sources, extents) = (row_major_strides(&extents(shape)), extents(result));
    if extents.contains(&0) {
        return of_any_type!(operand, |values| read(&values[..0], &extents, &sources, 0));
    }
    let base = dimensions.iter().zip(&sources).map(|(part, stride)| part.start as isize * stride).sum();
    // A stride past the end is never taken, but it must not overflow.
    let strides: Vec<isize> = dimensions
        .iter()
        .zip(sources.iter().zip(&extents))
        .map(|(part, (stride, &extent))| if extent > 1 { part.stride as isize * stride } else { 0 })
        .collect();
    of_any_type!(operand, |values| read(values, &extents, &strides, base))
}

pub(super) fn reverse(dimensions: &[i64], shape: &ArrayShape, operand: &Data) -> Result<Data, OutOfMemory> {
    let extents = extents(shape);
    let mut strides = row_major_strides(&extents);
    let mut base = 0;
    for &dimension in dimensions {
        let dimension = dimension as usize;
        base += strides[dimension] * (extents[dimension].max(1) as isize - 1);
        strides[dimension] = -strides[dimension];
    }
    of_any_type!(operand, |values| read(values, &extents, &strides, base))
}

pub(super) fn pad(
    padding: &[PadDimension],
    shape: &ArrayShape,
    operand: &Data,
    value: &Data,
    result: &ArrayShape,
) -> Result<Data, OutOfMemory> {
    let box_ = Padded::new(padding, &extents(shape), &extents(result));
    Ok(match (operand, value) {
        (Data::Pred(a), Data::Pred(value)) => Data::Pred(box_.write(a, value[0])?),
        (Data::S32(a), Data::S32(value)) => Data::S32(box_.write(a, value[0])?),
        (Data::U32(a), Data::U32(value)) => Data::U32(box_.write(a, value[0])?),
        (Data::F32(a), Data::F32(value)) => Data::F32(box_.write(a, value[0])?),
        _ => unreachable!("{UNDERSTOOD}"),
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

    fn write<T: Element>(&self, source: &[T], value: T) -> Result<Vec<T>, OutOfMemory> {
        let mut values = splat(self.count, value)?;
        let mut from = Walk::new(&self.kept, &self.from.1, self.from.0, 0);
        let mut to = Walk::new(&self.kept, &self.to.1, self.to.0, 0);
        for _ in 0..self.kept.iter().product() {
            values[to.step()] = source[from.step()];
        }
        Ok(values)
    }
}

pub(super) fn concatenate(
    dimension: usize,
    operands: &[(&ArrayShape, &Data)],
    result: &ArrayShape,
) -> Result<Data, OutOfMemory> {
    macro_rules! joined {
        ($variant:ident) => {{
            let parts = operands.iter().filter_map(|(shape, data)| match data {
                Data::$variant(values) => Some((extents(shape)[dimension..].iter().product(), values.as_slice())),
                _ => None,
            });
            Data::$variant(join(extents(result)[..dimension].iter().product(), &parts.collect::<Vec<_>>())?)
        }};
    }
    Ok(match result.element_type {
        ElementType::Pred => joined!(Pred),
        ElementType::S32 => joined!(S32),
        ElementType::U32 => joined!(U32),
        ElementType::F32 => joined!(F32),
        _ => unreachable!("{UNDERSTOOD}"),
    })
}

/// `rows` rows, each made of one piece of every part; a part is given with the length of its pieces.
fn join<T: Element>(rows: usize, parts: &[(usize, &[T])]) -> Result<Vec<T>, OutOfMemory> {
    let mut values = Vec::new();
    values.try_reserve_exact(parts.iter().map(|(_, part)| part.len()).sum())?;
    for row in 0..rows {
        for (length, part) in parts {
            values.extend_from_slice(&part[row * length..(row + 1) * length]);
        }
    }
    Ok(values)
}
