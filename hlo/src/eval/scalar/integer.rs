//! Integers in the type that they are computed in.

use super::Element;
use crate::ir::{S1, S2, S4, U1, U2, U4};

/// A signed integer.
pub(super) trait Signed: Element + Ord {
    /// How many bits it has.
    const BITS: u32;
    /// The value.
    fn wide(self) -> i64;
    /// The integer with the lowest bits of `value`.
    fn wrap(value: i64) -> Self;
}

/// An unsigned integer.
pub(super) trait Unsigned: Element + Ord {
    /// How many bits it has.
    const BITS: u32;
    /// The value.
    fn wide(self) -> u64;
    /// The integer with the lowest bits of `value`.
    fn wrap(value: u64) -> Self;
}

macro_rules! integers {
    ($trait:ident $wide:ident $($native:ident)*; $($narrow:ident $held:ident $bits:literal)*) => {
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

integers! { Signed i64 i8 i16 i32 i64; S1 i8 1 S2 i8 2 S4 i8 4 }
integers! { Unsigned u64 u8 u16 u32 u64; U1 u8 1 U2 u8 2 U4 u8 4 }
