//! Floating-point numbers of at most 8 bits.

use super::{ElementType, FloatFormat, for_each_element_type};
use bytemuck::NoUninit;
use std::fmt;

macro_rules! minifloats {
    ($($name:ident $text:literal $bits:literal $kind:ident $owner:ident[$native:ty] $word:ident [$($format:tt)*];)*) => {
        $(minifloat! { $owner $kind $name })*
    };
}

macro_rules! minifloat {
    (own float $name:ident) => {
        #[doc = concat!(
            "A number of [`ElementType::", stringify!($name), "`], as its bits; equal if the bits are, also for NaNs."
        )]
        #[derive(Copy, Clone, Default, PartialEq, Eq, Hash, NoUninit)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The format of its bits.
            pub const FORMAT: FloatFormat =
                FloatFormat::of(ElementType::$name).expect("every type of a small float has a format");

            /// The number with these bits; those above the type's are passed over.
            pub const fn from_bits(bits: u8) -> Self {
                $name(bits & (u8::MAX >> (8 - Self::FORMAT.bits())))
            }

            /// The bits.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The value, which `f32` holds exactly.
            pub fn to_f32(self) -> f32 {
                Self::FORMAT.value(u16::from(self.0))
            }

            /// The number nearest to `value`; see [`FloatFormat::nearest`].
            pub fn nearest(value: f64) -> Option<Self> {
                Self::FORMAT.nearest(value).map(|bits| Self::from_bits(bits as u8))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?}, {:#04x})", stringify!($name), self.to_f32(), self.0)
            }
        }
    };
    ($owner:ident $kind:ident $name:ident) => {};
}

for_each_element_type! { minifloats }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_kept_and_rounded_to() {
        assert_eq!(F8E4M3Fn::FORMAT.max(), 448.0);
        assert_eq!(F8E4M3Fn::nearest(449.0).map(F8E4M3Fn::to_bits), Some(0x7e));
        assert_eq!(F8E4M3Fn::nearest(465.0), None);
        assert_eq!(F8E5M2::from_bits(0xc0).to_f32(), -2.0);
        assert_eq!(F4E2M1Fn::from_bits(0xf1), F4E2M1Fn::nearest(0.5).unwrap());
        assert_eq!(F6E3M2Fn::nearest(1e9).map(F6E3M2Fn::to_f32), Some(28.0));
        assert!(F8E8M0Fnu::from_bits(0xff).to_f32().is_nan());
        assert_eq!(format!("{:?}", F8E5M2::from_bits(0x3c)), "F8E5M2(1.0, 0x3c)");
    }
}
