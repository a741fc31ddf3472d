//! Literals: constant tensors, and the evaluator's values.

use super::{ArrayShape, Data, Scalar, Shape};

/// A value: an array with its elements in row-major order, or a tuple of values.
///
/// Two literals are equal when shapes (layouts included) and the bits of all elements are; a NaN equals itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The shape.
    pub shape: Shape,
    /// The elements.
    pub data: Data,
}

impl Literal {
    /// An array without layout.
    ///
    /// # Panics
    /// If the number of elements is not that of the extents.
    pub fn array(extents: impl Into<Vec<i64>>, data: impl Into<Data>) -> Self {
        let (extents, data) = (extents.into(), data.into());
        let element_type = data.element_type().expect("array data of an understood type was given");
        let shape = ArrayShape::new(element_type, extents);
        let held = data.len().and_then(|count| i64::try_from(count).ok());
        assert_eq!(shape.element_count(), held, "extents {:?} and data disagree", shape.extents);
        Literal { shape: Shape::Array(shape), data }
    }

    /// A rank-0 array.
    pub fn scalar(value: Scalar) -> Self {
        Literal { shape: Shape::scalar(value.element_type()), data: value.into() }
    }

    /// A tuple.
    pub fn tuple(elements: Vec<Literal>) -> Self {
        let shape = Shape::Tuple(elements.iter().map(|element| element.shape.clone()).collect());
        Literal { shape, data: Data::Tuple(elements) }
    }

    /// The arrays of it, left to right: itself, or those of the elements of a tuple.
    pub fn leaves(&self) -> Vec<&Literal> {
        match &self.data {
            Data::Tuple(elements) => elements.iter().flat_map(Literal::leaves).collect(),
            _ => vec![self],
        }
    }

    /// The one value every element has, if there is at least one element and they all agree bit for bit.
    pub fn splat(&self) -> Option<Scalar> {
        self.data.splat()
    }
}
