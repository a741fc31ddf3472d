//! Verification of single shapes, and their short form for messages.

use super::code;
use crate::ir::{ArrayShape, Shape};
use smallvec::{SmallVec, smallvec};
use std::fmt;

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

/// The part of a shape at an index into nested tuples.
pub(super) fn part<'a>(shape: &'a Shape, index: &[i64]) -> Option<&'a Shape> {
    index.iter().try_fold(shape, |shape, &position| shape.as_tuple()?.get(usize::try_from(position).ok()?))
}

/// How many arrays and tuples of one shape a message shows.
pub(super) const MAX_SHOWN: usize = 40;

/// A shape as a message shows it: without layouts, and of a large tuple the first elements only, so that many findings
/// about large tuples take no more than linear space.
pub(super) struct ShortShape<'a>(pub(super) &'a Shape);

impl fmt::Display for ShortShape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0, f, &mut MAX_SHOWN.clone())
    }
}

fn show(shape: &Shape, f: &mut fmt::Formatter<'_>, left: &mut usize) -> fmt::Result {
    *left = left.saturating_sub(1);
    match shape {
        Shape::Array(array) => fmt::Display::fmt(&ArrayShape { layout: None, ..array.clone() }, f),
        Shape::Buffer(array) => write!(f, "b({})", ArrayShape { layout: None, ..array.clone() }),
        Shape::Tuple(elements) => {
            f.write_str("(")?;
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    f.write_str(", ")?;
                }
                if *left == 0 {
                    f.write_str("…")?;
                    break;
                }
                show(element, f, left)?;
            }
            f.write_str(")")
        }
        other => fmt::Display::fmt(other, f),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::ElementType;

    #[test]
    fn large_tuples_are_cut() {
        let scalar = Shape::scalar(ElementType::F32);
        let pair = Shape::Tuple(vec![scalar.clone(), Shape::Tuple(vec![Shape::Token])]);
        assert_eq!(ShortShape(&pair).to_string(), "(f32[], (token[]))");
        let large = ShortShape(&Shape::Tuple(vec![scalar; 1_000_000])).to_string();
        assert!(large.ends_with("f32[], …)") && large.len() < 400, "{large}");
    }
}
