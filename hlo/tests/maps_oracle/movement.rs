//! The oracle of operations that move elements.

use super::cells::{cells, position};
use super::scene::Recorder;
use weft_hlo::ir::{ArrayShape, PadDimension, Shape, SliceDimension};

/// A dimension number as an index.
pub(crate) fn number(dimension: i64) -> usize {
    usize::try_from(dimension).expect("the verifier has seen dimension numbers")
}

pub(crate) fn broadcast(r: &mut Recorder<'_>, dimensions: &[i64]) {
    for output in r.outputs(0) {
        let cell: Vec<i64> = dimensions.iter().map(|&dimension| output[number(dimension)]).collect();
        r.one(0, &output, 0, &cell);
    }
}

/// Dimension `k` of the result is dimension `permutation[k]` of the operand.
pub(crate) fn transpose(r: &mut Recorder<'_>, permutation: &[i64]) {
    for cell in cells(&r.scene.operand(0)) {
        let output: Vec<i64> = permutation.iter().map(|&dimension| cell[number(dimension)]).collect();
        r.one(0, &output, 0, &cell);
    }
}

pub(crate) fn reverse(r: &mut Recorder<'_>, mirrored: &[i64]) {
    let extents = r.scene.operand(0);
    for cell in cells(&extents) {
        let mut output = cell.clone();
        for dimension in mirrored.iter().map(|&dimension| number(dimension)) {
            // Counted from the end.
            output[dimension] = (0..extents[dimension]).rev().nth(number(cell[dimension])).expect("it is an index");
        }
        r.one(0, &output, 0, &cell);
    }
}

/// Along each dimension the indices from `start` on below `limit`, `stride` apart.
pub(crate) fn slice(r: &mut Recorder<'_>, parts: &[SliceDimension]) {
    let kept: Vec<Vec<i64>> =
        parts.iter().map(|part| (part.start..part.limit).step_by(number(part.stride)).collect()).collect();
    for output in r.outputs(0) {
        let cell: Vec<i64> = output.iter().zip(&kept).map(|(&at, kept)| kept[number(at)]).collect();
        r.one(0, &output, 0, &cell);
    }
}

pub(crate) fn concatenate(r: &mut Recorder<'_>, dimension: i64) {
    let along = number(dimension);
    // For each index of the result along the dimension the operand and its own index.
    let sides = (0..r.scene.operands()).map(|operand| (operand, r.scene.operand(operand)[along]));
    let places: Vec<(usize, i64)> =
        sides.flat_map(|(operand, extent)| (0..extent).map(move |own| (operand, own))).collect();
    for output in r.outputs(0) {
        let (operand, own) = places[number(output[along])];
        let mut cell = output.clone();
        cell[along] = own;
        r.one(0, &output, operand, &cell);
    }
}

/// Every element of the operand is put somewhere, unless padding cuts it off; what is left is the padding value.
pub(crate) fn pad(r: &mut Recorder<'_>, padding: &[PadDimension]) {
    let extents = r.scene.result(0);
    let mut padded = vec![true; cells(&extents).len()];
    for cell in cells(&r.scene.operand(0)) {
        let output: Vec<i64> = cell.iter().zip(padding).map(|(&at, part)| part.low + at + at * part.interior).collect();
        if let Some(at) = position(&extents, &output) {
            padded[at] = false;
            r.one(0, &output, 0, &cell);
        }
    }
    for (output, _) in r.outputs(0).iter().zip(padded).filter(|(_, is_padding)| *is_padding) {
        r.one(0, output, 1, &[]);
    }
}

/// Elements in row-major order on both sides.
pub(crate) fn reshape(r: &mut Recorder<'_>) {
    let inputs = cells(&r.scene.operand(0));
    for (output, cell) in r.outputs(0).iter().zip(&inputs) {
        r.one(0, output, 0, cell);
    }
}

/// Elements in the order of memory on both sides.
pub(crate) fn bitcast(r: &mut Recorder<'_>) {
    let inputs = in_memory(r.scene.operand_shape(0));
    for (output, cell) in in_memory(&r.scene.instruction().shape).iter().zip(&inputs) {
        r.one(0, output, 0, cell);
    }
}

/// The cells of an array as they lie in memory: the index of the most minor dimension runs first.
fn in_memory(shape: &Shape) -> Vec<Vec<i64>> {
    let array: &ArrayShape = shape.as_array().expect("a bitcast is of arrays");
    let mut all = cells(&array.extents);
    let minor_to_major = array.minor_to_major();
    all.sort_by_key(|cell| minor_to_major.iter().rev().map(|&dimension| cell[dimension]).collect::<Vec<_>>());
    all
}

/// An element of a wider type is as many of a narrower one, side by side in a further dimension at the end.
pub(crate) fn bitcast_convert(r: &mut Recorder<'_>) {
    let (from, to) = (r.scene.operand(0), r.scene.result(0));
    let (narrow, common) = (cells(if from.len() > to.len() { &from } else { &to }), from.len().min(to.len()));
    for cell in narrow {
        let (output, input) =
            if from.len() > to.len() { (&cell[..common], &cell[..]) } else { (&cell[..], &cell[..common]) };
        r.one(0, output, 0, input);
    }
}

/// The starts that the operands from `first` on hold, scalars or one list: moved so that a box of these sizes lies within.
fn starts(r: &Recorder<'_>, first: usize, whole: &[i64], sizes: &[i64]) -> Vec<i64> {
    let is_list = first < r.scene.operands() && r.scene.operand(first).len() == 1;
    let start = |(dimension, (&extent, &size)): (usize, (&i64, &i64))| {
        let asked = match is_list {
            true => r.scene.integer(first, &[dimension as i64]),
            false => r.scene.integer(first + dimension, &[]),
        };
        asked.min(i128::from(extent - size)).max(0) as i64
    };
    whole.iter().zip(sizes).enumerate().map(start).collect()
}

fn all_starts(r: &mut Recorder<'_>, first: usize) {
    for output in r.outputs(0) {
        (first..r.scene.operands()).for_each(|operand| r.whole(0, &output, operand));
    }
}

pub(crate) fn dynamic_slice(r: &mut Recorder<'_>, sizes: &[i64]) {
    let starts = starts(r, 1, &r.scene.operand(0), sizes);
    for output in r.outputs(0) {
        let cell: Vec<i64> = output.iter().zip(&starts).map(|(at, start)| at + start).collect();
        r.one(0, &output, 0, &cell);
    }
    all_starts(r, 1);
}

pub(crate) fn dynamic_update_slice(r: &mut Recorder<'_>) {
    let (whole, sizes) = (r.scene.operand(0), r.scene.operand(1));
    let starts = starts(r, 2, &whole, &sizes);
    let mut kept = vec![true; cells(&whole).len()];
    for cell in cells(&sizes) {
        let output: Vec<i64> = cell.iter().zip(&starts).map(|(at, start)| at + start).collect();
        kept[position(&whole, &output).expect("the box lies within")] = false;
        r.one(0, &output, 1, &cell);
    }
    for (cell, _) in cells(&whole).iter().zip(kept).filter(|(_, is_kept)| *is_kept) {
        r.one(0, cell, 0, cell);
    }
    all_starts(r, 2);
}
