//! Reductions: sequential, in row-major order of the reduced dimensions, for each element of the result.

use super::fill::{for_each, map, splat};
use super::movement::{Walk, extents, row_major_strides};
use super::region::{Machine, Program, bits_at};
use super::scalar::Element;
use super::value::OutOfMemory;
use crate::ir::{ArrayShape, Data, ElementType};

/// How many elements one core folds before it takes up the next piece.
const PIECE: usize = 1 << 14;

/// The results, one per input. All inputs have the extents of `shape`.
pub(super) fn reduce(
    dimensions: &[i64],
    program: &Program,
    shape: &ArrayShape,
    inputs: &[&Data],
    initials: &[&Data],
) -> Result<Vec<Data>, OutOfMemory> {
    let folded = Folded::new(dimensions, shape);
    let count = folded.results.iter().product();
    let mut results = Vec::with_capacity(inputs.len());
    for _ in inputs {
        results.push(splat(count, 0u32)?);
    }
    // A job is where it starts, and its piece of each result.
    let piece = (PIECE / folded.reduced.iter().product::<usize>().max(1)).max(1);
    let mut jobs: Vec<(usize, Vec<&mut [u32]>)> =
        (0..count.div_ceil(piece)).map(|job| (job * piece, Vec::with_capacity(inputs.len()))).collect();
    for result in &mut results {
        for (job, part) in jobs.iter_mut().zip(result.chunks_mut(piece)) {
            job.1.push(part);
        }
    }
    let initials: Vec<u32> = initials.iter().filter_map(|initial| bits_at(initial, 0)).collect();
    for_each(jobs, |(start, mut parts)| {
        let mut machine = program.machine();
        let mut walk = Walk::new(&folded.results, &folded.result_strides, 0, start);
        for offset in 0..parts[0].len() {
            let base = walk.step();
            let values = folded.fold(&mut machine, inputs, &initials, base);
            for (part, value) in parts.iter_mut().zip(values) {
                part[offset] = value;
            }
        }
    });
    results.into_iter().zip(inputs).map(|(bits, input)| typed(bits, input)).collect()
}

/// The dimensions of an operand, those that remain and those that disappear.
struct Folded {
    results: Vec<usize>,
    result_strides: Vec<isize>,
    reduced: Vec<usize>,
    reduced_strides: Vec<isize>,
}

impl Folded {
    fn new(dimensions: &[i64], shape: &ArrayShape) -> Self {
        // Extents as they are, also beside a 0: a result may have elements that no element is folded into.
        let true_extents: Vec<usize> =
            shape.extents.iter().map(|&extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect();
        let strides = row_major_strides(&extents(shape));
        let mut folded = Folded { results: vec![], result_strides: vec![], reduced: vec![], reduced_strides: vec![] };
        for (dimension, (extent, stride)) in true_extents.into_iter().zip(strides).enumerate() {
            if dimensions.contains(&(dimension as i64)) {
                folded.reduced.push(extent);
                folded.reduced_strides.push(stride);
            } else {
                folded.results.push(extent);
                folded.result_strides.push(stride);
            }
        }
        // Where nothing is to be computed or folded, the other extents may be too large to be multiplied.
        if folded.results.contains(&0) {
            folded.results.fill(0);
            folded.reduced.fill(0);
        } else if folded.reduced.contains(&0) {
            folded.reduced.fill(0);
        }
        folded
    }

    /// The values of one element of the results.
    fn fold(&self, machine: &mut Machine<'_>, inputs: &[&Data], initials: &[u32], base: usize) -> Vec<u32> {
        let mut values = initials.to_vec();
        let mut walk = Walk::new(&self.reduced, &self.reduced_strides, base as isize, 0);
        for _ in 0..self.reduced.iter().product() {
            let position = walk.step();
            for (parameter, (&value, input)) in values.iter().zip(inputs).enumerate() {
                machine.set(parameter, value);
                machine.set(inputs.len() + parameter, bits_at(input, position).unwrap_or(0));
            }
            values.copy_from_slice(machine.run());
        }
        values
    }
}

fn typed(bits: Vec<u32>, like: &Data) -> Result<Data, OutOfMemory> {
    Ok(match like.element_type() {
        Some(ElementType::Pred) => Data::Pred(map(&bits, bool::from_bits)?),
        // The three other types are as large as their bits, so these are made in place.
        Some(ElementType::S32) => Data::S32(bits.into_iter().map(i32::from_bits).collect()),
        Some(ElementType::F32) => Data::F32(bits.into_iter().map(f32::from_bits).collect()),
        _ => Data::U32(bits),
    })
}
