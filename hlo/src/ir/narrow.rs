//! Integers of less than eight bits.

use super::for_each_element_type;
use bytemuck::NoUninit;
use std::fmt;

macro_rules! narrow_integers {
    ($($name:ident $text:literal $bits:literal $kind:ident $owner:ident[$native:ty] $word:ident [$($format:tt)*];)*) => {
        $(narrow_integer! { $owner $kind $name $text $bits })*
    };
}

macro_rules! narrow_integer {
    (own signed $name:ident $text:literal $bits:literal) => {
        narrow_integer! { $name $text i8 $bits, -(1 << ($bits - 1)), (1 << ($bits - 1)) - 1 }
    };
    (own unsigned $name:ident $text:literal $bits:literal) => {
        narrow_integer! { $name $text u8 $bits, 0, (1 << $bits) - 1 }
    };
    ($owner:ident $kind:ident $name:ident $text:literal $bits:literal) => {};
    ($name:ident $text:literal $native:ident $bits:literal, $low:expr, $high:expr) => {
        #[doc = concat!("An integer of type `", $text, "`.")]
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, NoUninit)]
        #[repr(transparent)]
        pub struct $name($native);

        impl $name {
            /// The least value.
            pub const MIN: Self = $name($low);
            /// The greatest value.
            pub const MAX: Self = $name($high);

            /// `value`, if it is in range.
            pub fn new(value: $native) -> Option<Self> {
                ($low..=$high).contains(&value).then_some($name(value))
            }

            /// The lowest bits of `value`, as arithmetic that wraps around leaves them.
            pub fn wrapping(value: $native) -> Self {
                let unused = $native::BITS - $bits;
                $name((value << unused) >> unused)
            }

            /// The value.
            pub fn get(self) -> $native {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

for_each_element_type! { narrow_integers }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_bits() {
        let held = |low: i8, high: i8, new: fn(i8) -> Option<i8>, wrapping: fn(i8) -> i8| {
            for value in i8::MIN..=i8::MAX {
                assert_eq!(new(value).is_some(), (low..=high).contains(&value));
                let wrapped = wrapping(value);
                assert!((low..=high).contains(&wrapped));
                assert_eq!((i32::from(wrapped) - i32::from(value)) % (i32::from(high) - i32::from(low) + 1), 0);
            }
        };
        held(-1, 0, |value| S1::new(value).map(S1::get), |value| S1::wrapping(value).get());
        held(-2, 1, |value| S2::new(value).map(S2::get), |value| S2::wrapping(value).get());
        held(-8, 7, |value| S4::new(value).map(S4::get), |value| S4::wrapping(value).get());
        for value in u8::MIN..=u8::MAX {
            assert_eq!(U1::new(value).map(U1::get), (value < 2).then_some(value));
            assert_eq!(U2::new(value).map(U2::get), (value < 4).then_some(value));
            assert_eq!(U4::new(value).map(U4::get), (value < 16).then_some(value));
            assert_eq!(U4::wrapping(value).get(), value % 16);
        }
        assert_eq!((S4::MIN.to_string(), U4::MAX.to_string()), ("-8".to_owned(), "15".to_owned()));
    }
}
