//! The result that a rule expects of an operation.

use crate::ir::{ArrayShape, ElementType, Shape};
use crate::verify::shapes::{MAX_SHOWN, ShortShape};
use std::fmt;

/// The result that follows from the operands, as far as types and kinds go.
#[derive(Clone, Debug)]
pub(in crate::verify) enum Expected<'a> {
    /// Nothing follows: the operation leaves it open, or its operands are wrong already.
    Open,
    /// An array of this type; its extents follow from a shape function.
    Array(ElementType),
    /// `u32[]`: the handle of a transfer, which like a token is a kind of value and has no extents.
    Handle,
    /// The type of another value; its extents follow from a shape function, like all others.
    Same(&'a Shape),
    /// A tuple.
    Tuple(Vec<Expected<'a>>),
    /// `token[]`.
    Token,
}

impl Expected<'_> {
    /// Whether a shape is one of those expected.
    pub(in crate::verify) fn admits(&self, shape: &Shape) -> bool {
        match (self, shape) {
            (Expected::Open, _) | (Expected::Token, Shape::Token) => true,
            (Expected::Array(element_type), Shape::Array(array)) => array.element_type == *element_type,
            (Expected::Handle, shape) => *shape == Shape::scalar(ElementType::U32),
            (Expected::Same(wanted), shape) => is_alike(wanted, shape),
            (Expected::Tuple(wanted), Shape::Tuple(elements)) => {
                wanted.len() == elements.len()
                    && wanted.iter().zip(elements).all(|(wanted, element)| wanted.admits(element))
            }
            _ => false,
        }
    }

    /// The shape, of which `extents` gives those of each leaf in turn; `None` where something is left open.
    pub(in crate::verify) fn shape(&self, extents: &mut dyn FnMut() -> Option<Vec<i64>>) -> Option<Shape> {
        match self {
            Expected::Open => None,
            Expected::Array(element_type) => extents().map(|extents| Shape::array(*element_type, extents)),
            Expected::Handle => {
                extents();
                Some(Shape::scalar(ElementType::U32))
            }
            Expected::Same(shape) => {
                for _ in shape.leaves() {
                    extents();
                }
                Some((*shape).clone())
            }
            Expected::Tuple(elements) => {
                let elements: Option<Vec<Shape>> = elements.iter().map(|element| element.shape(extents)).collect();
                elements.map(Shape::Tuple)
            }
            Expected::Token => {
                extents();
                Some(Shape::Token)
            }
        }
    }

    /// The shape that has these extents and the types expected.
    pub(in crate::verify) fn of_extents(&self, shape: &Shape) -> Shape {
        match (self, shape) {
            (Expected::Array(element_type), Shape::Array(array)) => Shape::array(*element_type, array.extents.clone()),
            (Expected::Same(wanted), shape) if !is_alike(wanted, shape) => wanted.without_layout(),
            (Expected::Tuple(wanted), Shape::Tuple(elements)) if wanted.len() == elements.len() => {
                Shape::Tuple(wanted.iter().zip(elements).map(|(wanted, element)| wanted.of_extents(element)).collect())
            }
            _ => shape.clone(),
        }
    }
}

/// Whether two values are of one type: of one kind, with elements of one type, and where it depends on the run how many
/// elements there are, alike in where and up to what bound. All other extents are those that shape functions compute.
fn is_alike(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => {
            let bounds = |array: &ArrayShape| -> Vec<Option<i64>> {
                array.dynamic.iter().map(|&dimension| array.extents.get(dimension).copied()).collect()
            };
            a.element_type == b.element_type && a.dynamic == b.dynamic && bounds(a) == bounds(b)
        }
        (Shape::Tuple(a), Shape::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a, b)),
        (a, b) => a.is_compatible(b),
    }
}

impl fmt::Display for Expected<'_> {
    /// A shape in which `...` stands for what is left open.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Open => f.write_str("..."),
            Expected::Array(element_type) => write!(f, "{element_type}[...]"),
            Expected::Handle => f.write_str("u32[]"),
            Expected::Same(shape) => ShortShape(shape).fmt(f),
            Expected::Token => f.write_str("token[]"),
            Expected::Tuple(elements) => {
                f.write_str("(")?;
                for (position, element) in elements.iter().take(MAX_SHOWN).enumerate() {
                    write!(f, "{}{element}", if position > 0 { ", " } else { "" })?;
                }
                f.write_str(if elements.len() > MAX_SHOWN { ", …" } else { "" })?;
                f.write_str(")")
            }
        }
    }
}
