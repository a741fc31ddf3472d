//! Shapes abbreviated for messages.

use crate::ir::{ArrayShape, Shape};
use std::fmt;

/// How many arrays and tuples of one shape a message shows.
pub(super) const SHOWN: usize = 40;

/// A shape as a message shows it: without layouts, and of a large tuple the first elements only, so that many findings
/// about large tuples take no more than linear space.
pub(super) struct ShortShape<'a>(pub(super) &'a Shape);

impl fmt::Display for ShortShape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0, f, &mut SHOWN.clone())
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
