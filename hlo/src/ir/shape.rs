//! Shapes: arrays, tuples, tokens, opaque values and buffers.

use super::{ElementType, Layout};
use std::fmt;

/// The shape of a value: an array, a tuple of values, a token that orders effects, an opaque handle, or a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// A dense array.
    Array(ArrayShape),
    /// A tuple, possibly empty.
    Tuple(Vec<Shape>),
    /// `token[]`.
    Token,
    /// `opaque[]`.
    Opaque,
    /// The memory that holds an array, `b(f32[2])`: what reads or writes it does so in place.
    Buffer(ArrayShape),
}

/// A dense array: element type, extents and, where the text gave one, a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    /// Type of the elements.
    pub element_type: ElementType,
    /// Extents, outermost first; each is at least 0. For a dynamic dimension this is the bound, or
    /// [`UNBOUNDED`](Self::UNBOUNDED).
    pub extents: Vec<i64>,
    /// Dimensions whose extent is only bounded (`<=N`) or not known at all (`?`), ascending; empty for static shapes.
    pub dynamic: Vec<usize>,
    /// The memory layout; `None` where the text does not say, which means row-major.
    pub layout: Option<Layout>,
}

impl ArrayShape {
    /// The extent of a dynamic dimension without a bound (`?`).
    pub const UNBOUNDED: i64 = i64::MIN;

    /// Whether a dimension has neither an extent nor a bound.
    pub fn is_unbounded(&self) -> bool {
        !self.dynamic.is_empty() && self.dynamic.iter().any(|&at| self.extents.get(at) == Some(&Self::UNBOUNDED))
    }

    /// A static array without layout.
    pub fn new(element_type: ElementType, extents: impl Into<Vec<i64>>) -> Self {
        ArrayShape { element_type, extents: extents.into(), dynamic: Vec::new(), layout: None }
    }

    /// Whether the extent of a dimension is not known until run time.
    pub fn is_open(&self, dimension: usize) -> bool {
        self.dynamic.contains(&dimension)
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// The number of elements, or `None` if it exceeds `i64` or a dimension is unbounded.
    pub fn element_count(&self) -> Option<i64> {
        if self.is_unbounded() {
            return None;
        }
        if self.extents.contains(&0) {
            return Some(0);
        }
        self.extents.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent))
    }

    /// Dimensions from the fastest varying to the slowest; row-major where there is no layout.
    pub fn minor_to_major(&self) -> Vec<usize> {
        match &self.layout {
            Some(layout) => layout.minor_to_major.clone(),
            None => (0..self.rank()).rev().collect(),
        }
    }

    /// The array without its layout.
    pub(crate) fn without_layout(&self) -> ArrayShape {
        let ArrayShape { element_type, extents, dynamic, layout: _ } = self;
        ArrayShape { element_type: *element_type, extents: extents.clone(), dynamic: dynamic.clone(), layout: None }
    }

    /// Whether element type and extents agree; layouts are ignored.
    pub fn same_type_and_extents(&self, other: &ArrayShape) -> bool {
        self.element_type == other.element_type && self.extents == other.extents && self.dynamic == other.dynamic
    }
}

impl Shape {
    /// A static array without layout.
    pub fn array(element_type: ElementType, extents: impl Into<Vec<i64>>) -> Self {
        Shape::Array(ArrayShape::new(element_type, extents))
    }

    /// A rank-0 array.
    pub fn scalar(element_type: ElementType) -> Self {
        Shape::array(element_type, Vec::new())
    }

    /// The array, if this is one.
    pub fn as_array(&self) -> Option<&ArrayShape> {
        match self {
            Shape::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The elements, if this is a tuple.
    pub fn as_tuple(&self) -> Option<&[Shape]> {
        match self {
            Shape::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// Whether types and extents agree throughout; layouts are ignored (XLA's "compatible").
    pub fn is_compatible(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Array(a), Shape::Array(b)) | (Shape::Buffer(a), Shape::Buffer(b)) => a.same_type_and_extents(b),
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_compatible(b))
            }
            (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => true,
            _ => false,
        }
    }

    /// Whether every extent is known.
    pub fn is_static(&self) -> bool {
        match self {
            Shape::Array(array) | Shape::Buffer(array) => array.dynamic.is_empty(),
            Shape::Tuple(elements) => elements.iter().all(Shape::is_static),
            Shape::Token | Shape::Opaque => true,
        }
    }

    /// The shape without any layout, as computation signatures print it.
    pub fn without_layout(&self) -> Shape {
        match self {
            Shape::Array(array) => Shape::Array(array.without_layout()),
            Shape::Buffer(array) => Shape::Buffer(array.without_layout()),
            Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(Shape::without_layout).collect()),
            Shape::Token => Shape::Token,
            Shape::Opaque => Shape::Opaque,
        }
    }

    /// The arrays, tokens, handles and buffers at the leaves, left to right.
    pub fn leaves(&self) -> Vec<&Shape> {
        if !matches!(self, Shape::Tuple(_)) {
            return vec![self];
        }
        let mut leaves = Vec::new();
        let mut pending = vec![self];
        while let Some(shape) = pending.pop() {
            match shape {
                Shape::Tuple(elements) => pending.extend(elements.iter().rev()),
                leaf => leaves.push(leaf),
            }
        }
        leaves
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element_type)?;
        for (dimension, extent) in self.extents.iter().enumerate() {
            let comma = if dimension > 0 { "," } else { "" };
            match (*extent, self.dynamic.contains(&dimension)) {
                (ArrayShape::UNBOUNDED, true) => write!(f, "{comma}?")?,
                (extent, true) => write!(f, "{comma}<={extent}")?,
                (extent, false) => write!(f, "{comma}{extent}")?,
            }
        }
        f.write_str("]")?;
        match &self.layout {
            // XLA prints no layout for scalars unless there is more to say than the empty permutation.
            Some(layout) if !layout.is_blank() => layout.fmt(f),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Array(array) => array.fmt(f),
            Shape::Token => f.write_str("token[]"),
            Shape::Opaque => f.write_str("opaque[]"),
            Shape::Buffer(array) => write!(f, "b({array})"),
            Shape::Tuple(elements) => {
                f.write_str("(")?;
                for (position, element) in elements.iter().enumerate() {
                    if position > 0 {
                        f.write_str(", ")?;
                    }
                    // XLA counts the elements of long tuples in comments.
                    if position > 0 && position % 5 == 0 {
                        write!(f, "/*index={position}*/")?;
                    }
                    element.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}
