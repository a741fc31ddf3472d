//! Indexing maps of reshape and bitcast.
//!
//! A reshape is cut into the smallest runs of dimensions whose products agree on both sides; each run is linearized
//! and delinearized on its own, so that `f32[4,8,12] -> f32[32,3,4]` never mixes its first two dimensions with the
//! third. What neither collapses nor expands is simplified on the spot, as XLA's document shows it. A bitcast reads the same position of memory: both sides are seen in physical order first.

use super::context::{InstructionContext, OperationMaps, dim};
use crate::ir::ArrayShape;
use weft_affine::{Error, Expr, Ranges, simplify};
use weft_indexing::IndexingMap;

/// The same position in row-major order.
pub(super) fn reshape(context: &InstructionContext<'_>) -> OperationMaps {
    let (from, to) = if context.is_backward() {
        (context.result(0), context.operand(0))
    } else {
        (context.operand(0), context.result(0))
    };
    let mut map = IndexingMap::identity(from);
    map.set_results(reindex(map.results(), from, to, &map.variable_ranges())?)?;
    Ok(vec![context.on(0, 0, map)])
}

/// The same position in memory, as transpose to physical order, reshape, and transpose back.
pub(super) fn bitcast(context: &InstructionContext<'_>) -> OperationMaps {
    let (Some(result), Some(operand)) = (context.result_array(0), context.operand_array(0)) else {
        return Ok(Vec::new());
    };
    let (from, to) = if context.is_backward() { (result, operand) } else { (operand, result) };
    Ok(vec![context.on(0, 0, bitcast_map(from, to)?)])
}

/// The same bits. A narrower type has a last dimension for the parts of an element, where a wider one has none.
pub(super) fn bitcast_convert(context: &InstructionContext<'_>) -> OperationMaps {
    let rank = context.result(0).len().min(context.operand(0).len());
    let pairs: Vec<(usize, usize)> = (0..rank).map(|dimension| (dimension, dimension)).collect();
    Ok(vec![context.matched(0, 0, &pairs)])
}

/// From an index of `from` to the index of `to` at the same position in memory.
pub(super) fn bitcast_map(from: &ArrayShape, to: &ArrayShape) -> Result<IndexingMap, weft_indexing::Error> {
    let major_to_minor = |shape: &ArrayShape| -> Vec<usize> { shape.minor_to_major().into_iter().rev().collect() };
    let (from_order, to_order) = (major_to_minor(from), major_to_minor(to));
    let physical = |order: &[usize], extents: &[i64]| -> Vec<i64> { order.iter().map(|&k| extents[k]).collect() };
    let indices: Vec<Expr> = from_order.iter().map(|&dimension| dim(dimension)).collect();
    let mut map = IndexingMap::identity(&from.extents);
    let (from, to) = (physical(&from_order, &from.extents), physical(&to_order, &to.extents));
    let read = reindex(&indices, &from, &to, &map.variable_ranges())?;
    let mut results = vec![Expr::constant(0); to_order.len()];
    for (result, dimension) in read.into_iter().zip(to_order) {
        results[dimension] = result;
    }
    map.set_results(results)?;
    Ok(map)
}

/// The number of elements of an array, for a message.
fn count(extents: &[i64]) -> usize {
    extents.iter().fold(1, |count, extent| count.saturating_mul(usize::try_from(*extent).unwrap_or(usize::MAX)))
}

/// The index into an array of extents `to` of the element at `indices` of one of extents `from`, in row-major order of both; the
/// ranges are those of the variables of the indices.
fn reindex(indices: &[Expr], from: &[i64], to: &[i64], ranges: &Ranges) -> Result<Vec<Expr>, Error> {
    if to.contains(&0) || from.contains(&0) {
        return Ok(vec![Expr::constant(0); to.len()]);
    }
    let mut results = Vec::with_capacity(to.len());
    let (mut next_from, mut next_to) = (0, 0);
    while next_to < to.len() {
        // The smallest run from here whose products agree.
        let (first_from, first_to) = (next_from, next_to);
        let (mut from_size, mut to_size) = (1i64, to[next_to]);
        next_to += 1;
        while from_size != to_size {
            let grow = if from_size < to_size {
                (from.get(next_from), &mut from_size, &mut next_from)
            } else {
                (to.get(next_to), &mut to_size, &mut next_to)
            };
            let (Some(&extent), size, next) = grow else {
                let (expected, found) = (count(to), count(from));
                return Err(Error::Arity { what: "elements of a reshape", expected, found });
            };
            *size = size.checked_mul(extent).ok_or(Error::Overflow { what: "the extents of a shape" })?;
            *next += 1;
        }
        let mut linear = Expr::constant(0);
        for k in first_from..next_from {
            linear = linear.checked_mul(from[k])?.checked_add(&indices[k])?;
        }
        let is_generic = next_from - first_from > 1 && next_to - first_to > 1;
        let mut stride = to_size;
        for (k, &extent) in to.iter().enumerate().take(next_to).skip(first_to) {
            stride /= extent;
            let quotient = linear.checked_floor_div(stride)?;
            let index = match extent {
                1 => Expr::constant(0),
                _ if k == first_to => quotient,
                _ => quotient.checked_modulo(extent)?,
            };
            results.push(if is_generic { simplify(&index, ranges, &[]) } else { index });
        }
    }
    Ok(results)
}
