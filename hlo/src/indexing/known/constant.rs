//! Constants as expressions over the index of an element.

use weft_affine::{Expr, Interval};

use super::super::context::dim;
use crate::eval::number;
use crate::ir::{Literal, Scalar};

/// Elements that are looked at.
const MAX_ELEMENTS: u128 = 4096;

/// The elements within the box, where they are one linear expression of their index and its numbers are small; one number
/// may be of any size.
pub(super) fn value(literal: &Literal, extents: &[i64], element: &[Interval]) -> Option<Expr> {
    let first: Vec<i64> = element.iter().map(|within| within.lo).collect();
    let at = |index: &[i64]| {
        let position =
            extents.iter().zip(index).try_fold(0i64, |sum, (extent, i)| sum.checked_mul(*extent)?.checked_add(*i));
        integer(literal.data.get(usize::try_from(position?).ok()?)?)
    };
    if element.iter().fold(1u128, |count, within| count.saturating_mul(within.size())) > MAX_ELEMENTS {
        let value = literal.splat().and_then(integer)?;
        return Some(Expr::constant(i64::try_from(value).ok()?));
    }
    let corner = at(&first)?;
    let slopes = (0..element.len()).map(|dimension| {
        let mut next = first.clone();
        if element[dimension].as_point().is_some() {
            return Some(0);
        }
        next[dimension] += 1;
        Some(at(&next)? - corner)
    });
    let slopes: Vec<i128> = slopes.collect::<Option<_>>()?;
    let linear = |index: &[i64]| {
        let terms = slopes.iter().zip(index.iter().zip(&first));
        terms.fold(corner, |sum, (slope, (i, first))| sum + slope * (i128::from(*i) - i128::from(*first)))
    };
    let mut index = first.clone();
    loop {
        if at(&index)? != linear(&index) {
            return None;
        }
        let Some(dimension) = (0..index.len()).rev().find(|i| index[*i] < element[*i].hi) else { break };
        index[dimension] += 1;
        index[dimension + 1..].copy_from_slice(&first[dimension + 1..]);
    }
    // At the origin, wherever the box is.
    let mut value = Expr::constant(i64::try_from(linear(&vec![0; first.len()])).ok()?);
    for (dimension, slope) in slopes.into_iter().enumerate() {
        value = value.checked_add_scaled(&dim(dimension), i64::try_from(slope).ok()?).ok()?;
    }
    let is_small = |within: &Interval| super::WITHIN.contains_interval(*within);
    let is_followed = value.as_constant().is_some() || is_small(&super::over(element).range_of(&value));
    is_followed.then_some(value)
}

fn integer(scalar: Scalar) -> Option<i128> {
    if scalar.element_type().is_integer() { number(scalar).integer() } else { None }
}
