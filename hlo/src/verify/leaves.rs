//! Verifier rules for single shapes.

use super::code;
use crate::ir::{ArrayShape, Shape};
use smallvec::{SmallVec, smallvec};

/// Why an array of this shape cannot exist.
pub(super) fn fault(leaf: &Shape) -> Option<(&'static str, String)> {
    let (Shape::Array(array) | Shape::Buffer(array)) = leaf else { return None };
    let negative = |&(at, &extent): &(usize, &i64)| {
        extent < 0 && !(extent == ArrayShape::UNBOUNDED && array.dynamic.contains(&at))
    };
    if let Some((_, extent)) = array.extents.iter().enumerate().find(negative) {
        return Some((code::SHAPE, format!("an extent is at least 0, and one of {array} is {extent}")));
    }
    if !array.is_unbounded() && array.element_count().is_none() {
        return Some((code::SHAPE, format!("{array} has more elements than 64 bits count")));
    }
    let marks = &array.dynamic;
    if marks.iter().any(|&dimension| dimension >= array.rank()) || marks.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Some((code::SHAPE, format!("the dynamic dimensions {marks:?} do not fit rank {}", array.rank())));
    }
    let layout = array.layout.as_ref()?;
    let mut seen: SmallVec<[bool; 8]> = smallvec![false; array.rank()];
    let distinct = layout
        .minor_to_major
        .iter()
        .all(|&dimension| seen.get_mut(dimension).is_some_and(|seen| !std::mem::replace(seen, true)));
    if distinct && layout.minor_to_major.len() == array.rank() {
        return None;
    }
    Some((code::LAYOUT, format!("the layout {layout} is no permutation of {} dimensions", array.rank())))
}

/// The part of a value at an index into nested tuples.
pub(super) fn part<'a>(shape: &'a Shape, index: &[i64]) -> Option<&'a Shape> {
    index.iter().try_fold(shape, |shape, &position| shape.as_tuple()?.get(usize::try_from(position).ok()?))
}
