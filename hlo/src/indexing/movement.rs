//! Indexing maps of operations that move elements or pass arrays on: slice, reverse, concatenate, pad, tuples, copies.

use super::context::{InstructionContext, OperationMaps, dim, dims, index};
use super::{Dependence, Relation, Undefined};
use crate::ir::{PadDimension, Shape, SliceDimension};
use weft_affine::{Error, Expr, Interval};
use weft_indexing::IndexingMap;

/// Of a pad that has no indices.
const TOO_WIDE: Undefined = Undefined::Overflow { what: "the padding" };

/// `d * stride + start`, and back where the division leaves nothing over.
pub(super) fn slice(context: &InstructionContext<'_>, parts: &[SliceDimension]) -> OperationMaps {
    let (output, input) = (context.result(0), context.operand(0));
    let map = if context.is_backward() {
        let results = dims(output.len()).into_iter().zip(parts).map(|(d, part)| scaled(&d, part.stride, part.start));
        IndexingMap::of_extents(output, &[], results.collect::<Result<_, Error>>()?)?
    } else {
        spread(input, output, parts.iter().map(|part| (part.start, part.stride)))?
    };
    Ok(vec![context.on(0, 0, map)])
}

/// `extent - 1 - d` along the mirrored dimensions.
pub(super) fn reverse(context: &InstructionContext<'_>, mirrored: &[i64]) -> OperationMaps {
    let output = context.result(0);
    let results = dims(output.len()).into_iter().enumerate().map(|(dimension, d)| {
        let is_mirrored = mirrored.iter().any(|&mirror| index(mirror) == dimension);
        if is_mirrored { Expr::constant(output[dimension] - 1).checked_sub(&d) } else { Ok(d) }
    });
    let map = IndexingMap::of_extents(output, &[], results.collect::<Result<_, _>>()?)?;
    Ok(vec![context.on(0, 0, map)])
}

/// Each operand occupies its part of the result.
pub(super) fn concatenate(context: &InstructionContext<'_>, along: i64) -> OperationMaps {
    let (output, along) = (context.result(0), index(along));
    let mut found = Vec::with_capacity(context.operands());
    let mut offset = 0;
    for operand in 0..context.operands() {
        let input = context.operand(operand);
        let extent = input[along];
        let from = if context.is_backward() { output } else { input };
        let mut results = dims(from.len());
        let shift = if context.is_backward() { -offset } else { offset };
        results[along] = dim(along).checked_add(&Expr::constant(shift))?;
        let mut map = IndexingMap::of_extents(from, &[], results)?;
        if context.is_backward() {
            map.add_constraint(dim(along), Interval { lo: offset, hi: offset + extent - 1 })?;
        }
        found.push(context.on(0, operand, map));
        offset += extent;
    }
    Ok(found)
}

/// The operand is spread over the result, elements `interior + 1` apart; the scalar fills what is left.
pub(super) fn pad(context: &InstructionContext<'_>, padding: &[PadDimension]) -> OperationMaps {
    let (output, input) = (context.result(0), context.operand(0));
    let steps = padding.iter().map(|part| Ok((part.low, step(part)?))).collect::<Result<Vec<_>, Undefined>>()?;
    let map = if context.is_backward() {
        spread(output, input, steps.into_iter())?
    } else {
        let moved = steps.iter().enumerate().map(|(dimension, (low, step))| scaled(&dim(dimension), *step, *low));
        let mut map = IndexingMap::of_extents(input, &[], moved.collect::<Result<_, Error>>()?)?;
        for (dimension, (low, step)) in steps.into_iter().enumerate() {
            // Negative padding cuts elements off.
            let (first, last) = (low.checked_neg(), (output[dimension] - 1).checked_sub(low));
            let (first, last) = (first.ok_or(TOO_WIDE)?, last.ok_or(TOO_WIDE)?);
            let bounds = Interval { lo: ceil_div(first, step), hi: last.div_euclid(step) };
            map.add_constraint(dim(dimension), bounds)?;
        }
        map
    };
    let value = context.coarse(0, 1, &[], "elements that the operand fills do not read the padding value");
    Ok(vec![context.on(0, 0, map), value])
}

fn step(part: &PadDimension) -> Result<i64, Undefined> {
    part.interior.checked_add(1).ok_or(TOO_WIDE)
}

/// For a divisor above zero.
fn ceil_div(dividend: i64, divisor: i64) -> i64 {
    dividend.div_euclid(divisor) + i64::from(dividend.rem_euclid(divisor) != 0)
}

/// `d * stride + start`
fn scaled(d: &Expr, stride: i64, start: i64) -> Result<Expr, Error> {
    d.checked_mul(stride)?.checked_add(&Expr::constant(start))
}

/// From an array of extents `from` to the elements of one of extents `to` that stand in it at `start`, `start + stride`, …
fn spread(from: &[i64], to: &[i64], parts: impl Iterator<Item = (i64, i64)>) -> Result<IndexingMap, Undefined> {
    let mut map = IndexingMap::of_extents(from, &[], Vec::new())?;
    let (mut results, mut strides) = (Vec::with_capacity(to.len()), Vec::new());
    for (dimension, (start, stride)) in parts.enumerate() {
        let d = dim(dimension);
        let last = (to[dimension] - 1).checked_mul(stride).and_then(|span| span.checked_add(start));
        let last = last.ok_or(Undefined::Overflow { what: "the last index that a slice or pad reads" })?;
        map.add_constraint(d.clone(), Interval { lo: start.max(0), hi: last.min(from[dimension] - 1) })?;
        let shifted = d.checked_sub(&Expr::constant(start))?;
        results.push(shifted.checked_floor_div(stride)?);
        if stride > 1 {
            strides.push(shifted.checked_modulo(stride)?);
        }
    }
    for rest in strides {
        map.add_constraint(rest, Interval { lo: 0, hi: 0 })?;
    }
    map.set_results(results)?;
    Ok(map)
}

/// The array `leaf` of an operand, of this shape, is the array `result` of the value.
fn passed_on(result: usize, operand: usize, leaf: usize, shape: &Shape) -> Dependence {
    let relation = match shape {
        Shape::Array(array) => IndexingMap::identity(&array.extents).into(),
        // A token has no elements.
        _ => Relation::Maps(Vec::new()),
    };
    Dependence { result: Some(result), operand: Some(operand), leaf: Some(leaf), relation }
}

/// The operands side by side.
pub(super) fn tuple(context: &InstructionContext<'_>) -> OperationMaps {
    let operands = (0..context.operands()).flat_map(|operand| {
        let leaves = context.operand_shape(operand).leaves().into_iter().enumerate();
        leaves.map(move |(leaf, shape)| (operand, leaf, shape))
    });
    Ok(operands.enumerate().map(|(result, (operand, leaf, shape))| passed_on(result, operand, leaf, shape)).collect())
}

/// Where the arrays of each element of a tuple begin among those of the whole, and how many there are in all.
pub(super) fn starts(tuple: &Shape) -> Vec<usize> {
    let elements = tuple.as_tuple().unwrap_or_default().iter();
    let ends = elements.scan(0, |end, shape| {
        *end += shape.leaves().len();
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// One element of a tuple.
pub(super) fn get_tuple_element(context: &InstructionContext<'_>, element: i64) -> OperationMaps {
    let element = index(element);
    let before = match context.starts.get(element) {
        Some(start) => *start,
        None => starts(context.operand_shape(0)).get(element).copied().unwrap_or_default(),
    };
    let leaves = context.instruction.shape.leaves().into_iter().enumerate();
    Ok(leaves.map(|(leaf, shape)| passed_on(leaf, 0, before + leaf, shape)).collect())
}

/// The first operand as it is.
pub(super) fn copy(context: &InstructionContext<'_>) -> OperationMaps {
    let leaves = context.instruction.shape.leaves().into_iter().enumerate();
    Ok(leaves.map(|(leaf, shape)| passed_on(leaf, 0, leaf, shape)).collect())
}
