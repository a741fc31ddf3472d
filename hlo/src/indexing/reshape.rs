//! Maps of reshape and bitcast.
//!
//! A reshape is cut into the smallest runs of dimensions whose products agree on both sides; each run is linearized
//! and delinearized on its own, so that `f32[4,8,12] -> f32[32,3,4]` never mixes its first two dimensions with the
//! third. A bitcast reads the same position of memory: both sides are seen in physical order first.

use super::dimensions;
use crate::ir::ArrayShape;
use weft_affine::{Error, Expr};
use weft_indexing::IndexingMap;

/// The map of a reshape from `input` extents to `output` extents.
pub(super) fn reshape(output: &[i64], input: &[i64]) -> Result<IndexingMap, Error> {
    let results = reindex(&dimensions(output.len()), output, input)?;
    Ok(IndexingMap::new(output, &[], results))
}

/// The map of a bitcast: transpose to physical order, reshape, transpose back.
pub(super) fn bitcast(output: ArrayShape, input: ArrayShape) -> Result<IndexingMap, Error> {
    let d = dimensions(output.rank());
    let major_to_minor = |shape: &ArrayShape| -> Vec<usize> { shape.minor_to_major().into_iter().rev().collect() };
    let (output_order, input_order) = (major_to_minor(&output), major_to_minor(&input));
    let physical = |order: &[usize], extents: &[i64]| -> Vec<i64> { order.iter().map(|&k| extents[k]).collect() };
    let indices: Vec<Expr> = output_order.iter().map(|&dimension| d[dimension].clone()).collect();
    let read = reindex(&indices, &physical(&output_order, &output.extents), &physical(&input_order, &input.extents))?;
    let mut results = vec![Expr::constant(0); input.rank()];
    for (position, &dimension) in input_order.iter().enumerate() {
        results[dimension] = read[position].clone();
    }
    Ok(IndexingMap::new(&output.extents, &[], results))
}

/// The index into `input` of the element at `indices` of `output`, in row-major order of both.
fn reindex(indices: &[Expr], output: &[i64], input: &[i64]) -> Result<Vec<Expr>, Error> {
    if input.contains(&0) || output.contains(&0) {
        return Ok(vec![Expr::constant(0); input.len()]);
    }
    let mut results = Vec::with_capacity(input.len());
    let (mut next_output, mut next_input) = (0, 0);
    while next_input < input.len() {
        // The smallest run from here whose products agree.
        let (first_output, first_input) = (next_output, next_input);
        let (mut output_size, mut input_size) = (1i64, input[next_input]);
        next_input += 1;
        while output_size != input_size {
            let grow = if output_size < input_size {
                (output.get(next_output), &mut output_size, &mut next_output)
            } else {
                (input.get(next_input), &mut input_size, &mut next_input)
            };
            let (Some(&extent), size, next) = grow else {
                return Err(Error::Overflow { what: "the extents of a shape" });
            };
            *size = size.checked_mul(extent).ok_or(Error::Overflow { what: "the extents of a shape" })?;
            *next += 1;
        }
        let mut linear = Expr::constant(0);
        for k in first_output..next_output {
            linear = linear.checked_mul(output[k])?.checked_add(&indices[k])?;
        }
        let mut stride = input_size;
        for (k, &extent) in input.iter().enumerate().take(next_input).skip(first_input) {
            stride /= extent;
            let quotient = linear.checked_floor_div(stride)?;
            let is_first = k == first_input;
            results.push(if extent == 1 {
                Expr::constant(0)
            } else if is_first {
                quotient
            } else {
                quotient.checked_modulo(extent)?
            });
        }
    }
    Ok(results)
}
