//! Maps of reshape and bitcast.
//!
//! A reshape is cut into the smallest runs of dimensions whose products agree on both sides; each run is linearized
//! and delinearized on its own, so that `f32[4,8,12] -> f32[32,3,4]` never mixes its first two dimensions with the
//! third. A bitcast reads the same position of memory: both sides are seen in physical order first.

use super::site::{Found, Site, dim, dims};
use crate::ir::ArrayShape;
use weft_affine::{Error, Expr};
use weft_indexing::IndexingMap;

/// The same position in row-major order.
pub(super) fn reshape(site: &Site<'_>) -> Found {
    let (from, to) =
        if site.is_backward() { (site.result(0), site.operand(0)) } else { (site.operand(0), site.result(0)) };
    let results = reindex(&dims(from.len()), from, to)?;
    Ok(vec![site.on(0, 0, IndexingMap::new(from, &[], results))])
}

/// The same position in memory, as transpose to physical order, reshape, and transpose back.
pub(super) fn bitcast(site: &Site<'_>) -> Found {
    let (Some(result), Some(operand)) = (site.result_array(0), site.operand_array(0)) else { return Ok(Vec::new()) };
    let (from, to) = if site.is_backward() { (result, operand) } else { (operand, result) };
    Ok(vec![site.on(0, 0, bitcast_map(from, to)?)])
}

/// From an index of `from` to the index of `to` at the same position in memory.
pub(super) fn bitcast_map(from: &ArrayShape, to: &ArrayShape) -> Result<IndexingMap, Error> {
    let major_to_minor = |shape: &ArrayShape| -> Vec<usize> { shape.minor_to_major().into_iter().rev().collect() };
    let (from_order, to_order) = (major_to_minor(from), major_to_minor(to));
    let physical = |order: &[usize], extents: &[i64]| -> Vec<i64> { order.iter().map(|&k| extents[k]).collect() };
    let indices: Vec<Expr> = from_order.iter().map(|&dimension| dim(dimension)).collect();
    let read = reindex(&indices, &physical(&from_order, &from.extents), &physical(&to_order, &to.extents))?;
    let mut results = vec![Expr::constant(0); to.rank()];
    for (position, &dimension) in to_order.iter().enumerate() {
        results[dimension] = read[position].clone();
    }
    Ok(IndexingMap::new(&from.extents, &[], results))
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
