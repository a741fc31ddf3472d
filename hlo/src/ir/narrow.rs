//! Integers of one, two and four bits.

use std::fmt;

macro_rules! narrow_integers {
    ($($name:ident $text:literal $native:ident $bits:literal $low:literal $high:literal,)*) => {$(
        #[doc = concat!("An integer of type `", $text, "`, from ", stringify!($low), " to ", stringify!($high), ".")]
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    )*};
}

narrow_integers! {
    S1 "s1" i8 1 -1 0,
    S2 "s2" i8 2 -2 1,
    S4 "s4" i8 4 -8 7,
    U1 "u1" u8 1 0 1,
    U2 "u2" u8 2 0 3,
    U4 "u4" u8 4 0 15,
}

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
