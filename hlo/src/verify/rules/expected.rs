//! What a rule says of the result of an operation.

use crate::ir::{ElementType, Shape};
use crate::verify::brief::{Brief, SHOWN};
use std::fmt;

/// The result that follows from the operands, as far as types and kinds go.
#[derive(Clone, Debug)]
pub(in crate::verify) enum Expected<'a> {
    /// Nothing follows: the operation leaves it open, or its operands are wrong already.
    Open,
    /// An array of this type; its extents follow from a shape function.
    Array(ElementType),
    /// A scalar of this type.
    Scalar(ElementType),
    /// The shape of another value, layouts aside.
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
            (Expected::Scalar(element_type), Shape::Array(array)) => {
                array.element_type == *element_type && array.rank() == 0
            }
            (Expected::Same(wanted), shape) => wanted.is_compatible(shape),
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
            Expected::Scalar(element_type) => {
                extents();
                Some(Shape::scalar(*element_type))
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
            (Expected::Array(element_type) | Expected::Scalar(element_type), Shape::Array(array)) => {
                Shape::array(*element_type, array.extents.clone())
            }
            (Expected::Same(wanted), _) => wanted.without_layout(),
            (Expected::Tuple(wanted), Shape::Tuple(elements)) if wanted.len() == elements.len() => {
                Shape::Tuple(wanted.iter().zip(elements).map(|(wanted, element)| wanted.of_extents(element)).collect())
            }
            _ => shape.clone(),
        }
    }
}

impl fmt::Display for Expected<'_> {
    /// A shape in which `...` stands for what is left open.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Open => f.write_str("..."),
            Expected::Array(element_type) => write!(f, "{element_type}[...]"),
            Expected::Scalar(element_type) => write!(f, "{element_type}[]"),
            Expected::Same(shape) => Brief(shape).fmt(f),
            Expected::Token => f.write_str("token[]"),
            Expected::Tuple(elements) => {
                f.write_str("(")?;
                for (position, element) in elements.iter().take(SHOWN).enumerate() {
                    write!(f, "{}{element}", if position > 0 { ", " } else { "" })?;
                }
                f.write_str(if elements.len() > SHOWN { ", …" } else { "" })?;
                f.write_str(")")
            }
        }
    }
}
