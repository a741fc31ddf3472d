//! The elements of literals: one vector of a native type for each element type.

use super::minifloat::*;
use super::narrow::{S1, S2, S4, U1, U2, U4};
use super::{ElementType, Literal};
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt::Debug;

/// A type of Rust that holds the elements of one [`ElementType`].
///
/// Integers of fewer than eight bits keep to their range ([`S4`], …), small floats are their bits with their format
/// ([`F8E5M2`], …), complex numbers are pairs.
pub trait NativeType: Copy + Debug + Send + Sync + 'static {
    /// The element type.
    const ELEMENT_TYPE: ElementType;

    /// Whether two elements agree bit for bit: a NaN with itself, zeros of different sign not.
    fn same_bits(self, other: Self) -> bool;

    /// The elements of `data`, if they are of this type.
    fn elements(data: &Data) -> Option<&[Self]>;
}

macro_rules! native_types {
    ($($variant:ident $native:ty, $value:ident => $bits:expr;)*) => {
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

        impl PartialEq for Data {
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Data::$variant(a), Data::$variant(b)) => {
                        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_bits(*b))
                    })*
                    (Data::Elided, Data::Elided) => true,
                    (Data::Tuple(a), Data::Tuple(b)) => a == b,
                    _ => false,
                }
            }
        }

        impl PartialEq for Scalar {
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Scalar::$variant(a), Scalar::$variant(b)) => a.same_bits(*b),)*
                    _ => false,
                }
            }
        }

        impl Scalar {
            /// The element's type.
            pub fn element_type(self) -> ElementType {
                match self { $(Scalar::$variant(_) => ElementType::$variant,)* }
            }
        }

        impl Data {
            /// An array of `count` elements that all are `value`.
            pub fn filled(value: Scalar, count: usize) -> Self {
                match value { $(Scalar::$variant(value) => Data::$variant(vec![value; count]),)* }
            }

            /// How many elements an array holds; `None` where they are not held (elided, tuples).
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

            /// The one value every element has, if there is at least one element and they all agree bit for bit.
            pub fn splat(&self) -> Option<Scalar> {
                match self {
                    $(Data::$variant(values) => {
                        let first = *values.first()?;
                        values.iter().all(|value| value.same_bits(first)).then_some(Scalar::$variant(first))
                    })*
                    Data::Elided | Data::Tuple(_) => None,
                }
            }
        }

        $(
            impl NativeType for $native {
                const ELEMENT_TYPE: ElementType = ElementType::$variant;

                #[inline]
                fn same_bits(self, other: Self) -> bool {
                    let bits = |$value: $native| $bits;
                    bits(self) == bits(other)
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

native_types! {
    Pred bool, a => a;
    S1 S1, a => a;
    S2 S2, a => a;
    S4 S4, a => a;
    S8 i8, a => a;
    S16 i16, a => a;
    S32 i32, a => a;
    S64 i64, a => a;
    U1 U1, a => a;
    U2 U2, a => a;
    U4 U4, a => a;
    U8 u8, a => a;
    U16 u16, a => a;
    U32 u32, a => a;
    U64 u64, a => a;
    F4E2M1Fn F4E2M1Fn, a => a.to_bits();
    F6E2M3Fn F6E2M3Fn, a => a.to_bits();
    F6E3M2Fn F6E3M2Fn, a => a.to_bits();
    F8E3M4 F8E3M4, a => a.to_bits();
    F8E4M3 F8E4M3, a => a.to_bits();
    F8E4M3B11Fnuz F8E4M3B11Fnuz, a => a.to_bits();
    F8E4M3Fn F8E4M3Fn, a => a.to_bits();
    F8E4M3Fnuz F8E4M3Fnuz, a => a.to_bits();
    F8E5M2 F8E5M2, a => a.to_bits();
    F8E5M2Fnuz F8E5M2Fnuz, a => a.to_bits();
    F8E8M0Fnu F8E8M0Fnu, a => a.to_bits();
    F16 f16, a => a.to_bits();
    Bf16 bf16, a => a.to_bits();
    F32 f32, a => a.to_bits();
    F64 f64, a => a.to_bits();
    C64 Complex<f32>, a => (a.re.to_bits(), a.im.to_bits());
    C128 Complex<f64>, a => (a.re.to_bits(), a.im.to_bits());
}

impl Eq for Data {}

impl Eq for Scalar {}

impl From<Scalar> for Data {
    fn from(value: Scalar) -> Self {
        Data::filled(value, 1)
    }
}

impl Data {
    /// Whether an array is held and has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
