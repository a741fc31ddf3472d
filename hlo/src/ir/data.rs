//! The elements of literals: one vector of a native type for each element type.

use super::words::Held;
use super::{ElementType, Literal, Word, for_each_element_type, words_of};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

/// A type of Rust that holds the elements of one [`ElementType`].
///
/// Integers of fewer than eight bits keep to their range ([`S4`](super::S4), …), small floats are their bits with their format
/// ([`F8E5M2`](super::F8E5M2), …), complex numbers are pairs.
pub trait NativeType: Copy + Debug + Send + Sync + 'static {
    /// The element type.
    const ELEMENT_TYPE: ElementType;

    /// Whether two elements agree bit for bit: a NaN with itself, zeros of different sign not.
    fn same_bits(self, other: Self) -> bool;

    /// The elements of `data`, if they are of this type.
    fn elements(data: &Data) -> Option<&[Self]>;
}

macro_rules! native_types {
    ($($variant:ident $name:literal $bits:literal $kind:ident $owner:ident[$native:ty] $word:ident [$($format:tt)*];)*) => {
        /// The elements of a [`Literal`], in logical row-major order whatever the layout.
        #[derive(Clone, Debug)]
        pub enum Data {
            $(
                #[doc = concat!("An array of [`ElementType::", stringify!($variant), "`].")]
                $variant(Vec<$native>),
            )*
            /// An array whose elements the printer left out (`{...}`).
            Elided,
            /// A tuple.
            Tuple(Vec<Literal>),
        }

        /// One element.
        #[derive(Copy, Clone, Debug)]
        pub enum Scalar {
            $(
                #[doc = concat!("An element of [`ElementType::", stringify!($variant), "`].")]
                $variant($native),
            )*
        }

        impl Scalar {
            /// The element's type.
            pub fn element_type(self) -> ElementType {
                match self { $(Scalar::$variant(_) => ElementType::$variant,)* }
            }
        }

        impl Data {
            /// The number of elements of an array; `None` where they are not held (elided, tuples).
            pub fn len(&self) -> Option<usize> {
                match self {
                    $(Data::$variant(values) => Some(values.len()),)*
                    Data::Elided | Data::Tuple(_) => None,
                }
            }

            /// The element at a row-major position, if it is held.
            pub fn get(&self, position: usize) -> Option<Scalar> {
                match self {
                    $(Data::$variant(values) => values.get(position).copied().map(Scalar::$variant),)*
                    Data::Elided | Data::Tuple(_) => None,
                }
            }

            /// Puts an element at a row-major position; `None` where there is no element of this type.
            pub fn set(&mut self, position: usize, value: Scalar) -> Option<()> {
                match (self, value) {
                    $((Data::$variant(values), Scalar::$variant(value)) => *values.get_mut(position)? = value,)*
                    _ => return None,
                }
                Some(())
            }

            /// The element type, where the elements are held.
            pub fn element_type(&self) -> Option<ElementType> {
                match self {
                    $(Data::$variant(_) => Some(ElementType::$variant),)*
                    Data::Elided | Data::Tuple(_) => None,
                }
            }
        }

        $(
            impl NativeType for $native {
                const ELEMENT_TYPE: ElementType = ElementType::$variant;

                #[inline]
                fn same_bits(self, other: Self) -> bool {
                    self.word() == other.word()
                }

                fn elements(data: &Data) -> Option<&[Self]> {
                    match data {
                        Data::$variant(values) => Some(values),
                        _ => None,
                    }
                }
            }

            impl From<$native> for Literal {
                /// The scalar.
                fn from(value: $native) -> Self {
                    Literal::scalar(Scalar::$variant(value))
                }
            }

            impl From<Vec<$native>> for Data {
                fn from(values: Vec<$native>) -> Self {
                    Data::$variant(values)
                }
            }
        )*
    };
}

for_each_element_type! { native_types }

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        if let (Data::Tuple(a), Data::Tuple(b)) = (self, other) {
            return a == b;
        }
        let (Some(a), Some(b)) = (self.words(), other.words()) else {
            return matches!((self, other), (Data::Elided, Data::Elided));
        };
        self.element_type() == other.element_type() && words_of!(a, a, W => W::slice(b) == Some(a))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.element_type() == other.element_type() && self.word() == other.word()
    }
}

impl Eq for Data {}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.element_type(), self.word()).hash(state);
    }
}

impl From<Scalar> for Data {
    fn from(value: Scalar) -> Self {
        Data::filled(value, 1)
    }
}

impl Data {
    /// An array of `count` elements that all are `value`.
    pub fn filled(value: Scalar, count: usize) -> Self {
        let element_type = value.element_type();
        words_of!(Data::no_words(element_type), _, W => W::data(vec![W::of_bits(value.word()); count], element_type))
    }

    /// The one value every element has, if there is at least one element and they all agree bit for bit.
    pub fn splat(&self) -> Option<Scalar> {
        let is_splat = words_of!(self.words()?, words, W => words.iter().all(|&word| word == words[0]));
        if is_splat { self.get(0) } else { None }
    }

    /// Whether an array is held and has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Complex, S4, f16};

    #[test]
    fn equality_is_that_of_bits() {
        let nan = f64::from_bits(0x7ff0_0000_0000_0001);
        assert_eq!(Data::F64(vec![nan]), Data::F64(vec![nan]));
        assert_ne!(Data::F64(vec![nan]), Data::F64(vec![f64::NAN]));
        assert_ne!(Data::F16(vec![f16::ZERO]), Data::F16(vec![f16::NEG_ZERO]));
        assert_ne!(Scalar::C64(Complex::new(0.0, 1.0)), Scalar::C64(Complex::new(-0.0, 1.0)));
        assert_ne!(Data::S8(vec![1]), Data::U8(vec![1]));
        assert_eq!(Data::C64(vec![Complex::new(f32::NAN, 1.0); 3]).splat().map(Data::from).unwrap().len(), Some(1));
        assert_eq!(Data::F32(vec![0.0, -0.0]).splat(), None);
        assert_eq!(Data::Bf16(Vec::new()).splat(), None);
    }

    #[test]
    fn native_types_are_those_of_their_elements() {
        let data = Data::from(vec![S4::MIN, S4::MAX]);
        assert_eq!(data.element_type(), Some(S4::ELEMENT_TYPE));
        assert_eq!(S4::elements(&data), Some(&[S4::MIN, S4::MAX][..]));
        assert_eq!(i8::elements(&data), None);
        assert_eq!(data.get(1), Some(Scalar::S4(S4::MAX)));
        assert_eq!(Data::Elided.element_type(), None);
    }

    #[test]
    fn an_element_is_set_where_there_is_one_of_its_type() {
        let mut data = Data::S8(vec![1, 2]);
        assert_eq!(data.set(1, Scalar::S8(-3)), Some(()));
        assert_eq!(data.set(2, Scalar::S8(0)), None);
        assert_eq!(data.set(0, Scalar::U8(0)), None);
        assert_eq!(data, Data::S8(vec![1, -3]));
    }
}
