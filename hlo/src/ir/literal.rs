//! Literals: tensors known when the program was written, and the evaluator's values.

use super::{ArrayShape, ElementType, Shape};

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

/// The elements of a [`Literal`], in logical row-major order whatever the layout.
#[derive(Clone, Debug)]
pub enum Data {
    /// `pred`
    Pred(Vec<bool>),
    /// `s32`
    S32(Vec<i32>),
    /// `u32`
    U32(Vec<u32>),
    /// `f32`
    F32(Vec<f32>),
    /// An array of a type that is read and printed, not yet understood: its text between the parentheses, without
    /// comments.
    Text(String),
    /// An array whose elements the printer left out (`{...}`).
    Elided,
    /// A tuple.
    Tuple(Vec<Literal>),
}

/// One element.
#[derive(Copy, Clone, Debug)]
pub enum Scalar {
    /// `pred`
    Pred(bool),
    /// `s32`
    S32(i32),
    /// `u32`
    U32(u32),
    /// `f32`
    F32(f32),
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Data::Pred(a), Data::Pred(b)) => a == b,
            (Data::S32(a), Data::S32(b)) => a == b,
            (Data::U32(a), Data::U32(b)) => a == b,
            (Data::F32(a), Data::F32(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            (Data::Text(a), Data::Text(b)) => a == b,
            (Data::Elided, Data::Elided) => true,
            (Data::Tuple(a), Data::Tuple(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Data {}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Scalar::Pred(a), Scalar::Pred(b)) => a == b,
            (Scalar::S32(a), Scalar::S32(b)) => a == b,
            (Scalar::U32(a), Scalar::U32(b)) => a == b,
            (Scalar::F32(a), Scalar::F32(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl Eq for Scalar {}

impl Scalar {
    /// The element's type.
    pub fn element_type(self) -> ElementType {
        match self {
            Scalar::Pred(_) => ElementType::Pred,
            Scalar::S32(_) => ElementType::S32,
            Scalar::U32(_) => ElementType::U32,
            Scalar::F32(_) => ElementType::F32,
        }
    }
}

impl Data {
    /// How many elements an array holds; `None` where they are not held (text, elided, tuples).
    pub fn len(&self) -> Option<usize> {
        match self {
            Data::Pred(values) => Some(values.len()),
            Data::S32(values) => Some(values.len()),
            Data::U32(values) => Some(values.len()),
            Data::F32(values) => Some(values.len()),
            Data::Text(_) | Data::Elided | Data::Tuple(_) => None,
        }
    }

    /// Whether an array is held and has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The element at a row-major position, if it is held.
    pub fn get(&self, position: usize) -> Option<Scalar> {
        match self {
            Data::Pred(values) => values.get(position).copied().map(Scalar::Pred),
            Data::S32(values) => values.get(position).copied().map(Scalar::S32),
            Data::U32(values) => values.get(position).copied().map(Scalar::U32),
            Data::F32(values) => values.get(position).copied().map(Scalar::F32),
            Data::Text(_) | Data::Elided | Data::Tuple(_) => None,
        }
    }
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

    /// The one value every element has, if there is at least one element and they all agree bit for bit.
    pub fn splat(&self) -> Option<Scalar> {
        let first = self.data.get(0)?;
        let same = match &self.data {
            Data::Pred(values) => values.iter().all(|value| *value == values[0]),
            Data::S32(values) => values.iter().all(|value| *value == values[0]),
            Data::U32(values) => values.iter().all(|value| *value == values[0]),
            Data::F32(values) => values.iter().all(|value| value.to_bits() == values[0].to_bits()),
            Data::Text(_) | Data::Elided | Data::Tuple(_) => false,
        };
        same.then_some(first)
    }
}

impl Data {
    /// The element type, where the elements are held.
    pub fn element_type(&self) -> Option<ElementType> {
        match self {
            Data::Pred(_) => Some(ElementType::Pred),
            Data::S32(_) => Some(ElementType::S32),
            Data::U32(_) => Some(ElementType::U32),
            Data::F32(_) => Some(ElementType::F32),
            Data::Text(_) | Data::Elided | Data::Tuple(_) => None,
        }
    }
}

macro_rules! data_from {
    ($($variant:ident $type:ty,)*) => {
        $(
            impl From<Vec<$type>> for Data {
                fn from(values: Vec<$type>) -> Self {
                    Data::$variant(values)
                }
            }
        )*
        impl From<Scalar> for Data {
            fn from(scalar: Scalar) -> Self {
                match scalar { $(Scalar::$variant(value) => Data::$variant(vec![value]),)* }
            }
        }
    };
}

data_from! { Pred bool, S32 i32, U32 u32, F32 f32, }
