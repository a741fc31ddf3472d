//! Maps of operations that move elements: broadcast, transpose, slice, reverse, concatenate, pad, reduce.

use super::dimensions;
use crate::ir::{PadDimension, SliceDimension};
use weft_affine::{Error, Expr, Interval};
use weft_indexing::IndexingMap;

/// Operand dimension `i` is read at result dimension `kept[i]`.
pub(super) fn broadcast(output: &[i64], kept: &[i64]) -> IndexingMap {
    let d = dimensions(output.len());
    IndexingMap::new(output, &[], kept.iter().map(|&dimension| d[index(dimension)].clone()).collect())
}

/// Operand dimension `permutation[i]` is read at result dimension `i`.
pub(super) fn transpose(output: &[i64], permutation: &[i64]) -> IndexingMap {
    let d = dimensions(output.len());
    let mut results = d.clone();
    for (result, &operand) in permutation.iter().enumerate() {
        results[index(operand)] = d[result].clone();
    }
    IndexingMap::new(output, &[], results)
}

/// `d * stride + start`.
pub(super) fn slice(output: &[i64], parts: &[SliceDimension]) -> Result<IndexingMap, Error> {
    let results = dimensions(output.len())
        .iter()
        .zip(parts)
        .map(|(d, part)| d.checked_mul(part.stride)?.checked_add(&Expr::constant(part.start)))
        .collect::<Result<_, _>>()?;
    Ok(IndexingMap::new(output, &[], results))
}

/// `extent - 1 - d` along the mirrored dimensions.
pub(super) fn reverse(output: &[i64], mirrored: &[i64]) -> IndexingMap {
    let results = dimensions(output.len())
        .into_iter()
        .enumerate()
        .map(|(dimension, d)| {
            let is_mirrored = mirrored.iter().any(|&mirror| index(mirror) == dimension);
            if is_mirrored { Expr::constant(output[dimension] - 1) - d } else { d }
        })
        .collect();
    IndexingMap::new(output, &[], results)
}

/// The operand that occupies `[offset, offset + extent - 1]` of the result.
pub(super) fn concatenate(output: &[i64], along: usize, offset: i64, extent: i64) -> IndexingMap {
    let mut results = dimensions(output.len());
    results[along] = results[along].clone() - Expr::constant(offset);
    let mut map = IndexingMap::new(output, &[], results);
    let own = Interval { lo: offset, hi: offset + extent - 1 };
    map.add_constraint(dimensions(output.len())[along].clone(), own);
    map
}

/// The operand of a pad: `(d - low) floordiv (interior + 1)` where that division is exact and within the operand.
pub(super) fn pad(output: &[i64], input: &[i64], padding: &[PadDimension]) -> Result<IndexingMap, Error> {
    let d = dimensions(output.len());
    let mut results = Vec::with_capacity(d.len());
    let mut constraints = Vec::new();
    let mut bounds = Vec::with_capacity(d.len());
    for (dimension, part) in padding.iter().enumerate() {
        let step = part.interior + 1;
        let last = (input[dimension] - 1).checked_mul(step).and_then(|span| span.checked_add(part.low));
        let last = last.ok_or(Error::Overflow { what: "the extents of a shape" })?;
        bounds.push(Interval { lo: part.low.max(0), hi: last.min(output[dimension] - 1) });
        let shifted = d[dimension].checked_sub(&Expr::constant(part.low))?;
        if step > 1 {
            constraints.push((shifted.checked_modulo(step)?, Interval { lo: 0, hi: 0 }));
        }
        results.push(if step > 1 { shifted.checked_floor_div(step)? } else { shifted });
    }
    let mut map = IndexingMap::new(output, &[], results);
    for (variable, bounds) in d.into_iter().zip(bounds) {
        map.add_constraint(variable, bounds);
    }
    for (expr, bounds) in constraints {
        map.add_constraint(expr, bounds);
    }
    Ok(map)
}

/// Reduced dimensions become range variables, in the order of the operand's dimensions.
pub(super) fn reduce(output: &[i64], input: &[i64], reduced: &[i64]) -> IndexingMap {
    let d = dimensions(output.len());
    let (mut kept, mut ranges, mut results) = (0, Vec::new(), Vec::new());
    for (dimension, &extent) in input.iter().enumerate() {
        if reduced.iter().any(|&reduce| index(reduce) == dimension) {
            results.push(Expr::range(u32::try_from(ranges.len()).unwrap_or(u32::MAX)));
            ranges.push(extent);
        } else {
            results.push(d[kept].clone());
            kept += 1;
        }
    }
    IndexingMap::new(output, &ranges, results)
}

/// A dimension number as an index; the verifier has refused negative ones.
fn index(dimension: i64) -> usize {
    usize::try_from(dimension).unwrap_or(usize::MAX)
}
