//! Integers in the type that they are computed in.

use super::function::{Binary, Unary};
use super::pred::ordered;
use super::{Element, signed, unsigned};
use crate::ir::{BinaryOp, ComparisonDirection, S1, S2, S4, U1, U2, U4, UnaryOp};

macro_rules! integer {
    ($(#[$doc:meta])* $trait:ident $family:ident $wide:ident; own $($own:ident)*; by_way $($native:ident)*;
     $($narrow:ident $held:ident $bits:literal)*) => {
        $(#[$doc])*
        pub(super) trait $trait: Element + Ord {
            /// How many bits it has.
            const BITS: u32;
            /// The value.
            fn wide(self) -> $wide;
            /// The integer with the lowest bits of `value`.
            fn wrap(value: $wide) -> Self;
            /// The function of one integer that an operation is. Types of less than 32 bits have no loops of their own.
            fn function(op: UnaryOp) -> Option<Unary<Self>> {
                Some($family::wrapping::<$wide>(op)?.through(Self::wide, Self::wrap))
            }
            /// The function of two integers that an operation is.
            fn function_of_two(op: BinaryOp) -> Option<Binary<Self>> {
                Some($family::wrapping_of_two::<$wide>(op)?.through(Self::wide, Self::wrap))
            }
            /// The relation of two integers.
            fn order(direction: ComparisonDirection) -> Binary<Self, bool> {
                ordered::<$wide>(direction).through(Self::wide, |is_so| is_so)
            }
        }
        $(impl $trait for $own {
            const BITS: u32 = $own::BITS;
            #[inline]
            fn wide(self) -> $wide {
                self as $wide
            }
            #[inline]
            fn wrap(value: $wide) -> Self {
                value as $own
            }
            fn function(op: UnaryOp) -> Option<Unary<Self>> {
                $family::wrapping(op)
            }
            fn function_of_two(op: BinaryOp) -> Option<Binary<Self>> {
                $family::wrapping_of_two(op)
            }
            fn order(direction: ComparisonDirection) -> Binary<Self, bool> {
                ordered(direction)
            }
        })*
        $(impl $trait for $native {
            const BITS: u32 = $native::BITS;
            #[inline]
            fn wide(self) -> $wide {
                self as $wide
            }
            #[inline]
            fn wrap(value: $wide) -> Self {
                value as $native
            }
        })*
        $(impl $trait for $narrow {
            const BITS: u32 = $bits;
            #[inline]
            fn wide(self) -> $wide {
                $wide::from(self.get())
            }
            #[inline]
            fn wrap(value: $wide) -> Self {
                $narrow::wrapping(value as $held)
            }
        })*
    };
}

integer! {
    /// A signed integer.
    Signed signed i64; own i32 i64; by_way i8 i16; S1 i8 1 S2 i8 2 S4 i8 4
}
integer! {
    /// An unsigned integer.
    Unsigned unsigned u64; own u32 u64; by_way u8 u16; U1 u8 1 U2 u8 2 U4 u8 4
}
