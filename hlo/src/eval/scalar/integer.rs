//! The traits of native integers that [`signed`](super::signed) and [`unsigned`](super::unsigned) are generic over.

use super::Element;

macro_rules! integer {
    ($(#[$doc:meta])* $trait:ident $wide:ident; $($native:ident)*) => {
        $(#[$doc])*
        pub(super) trait $trait: Element + Ord {
            /// How many bits it has.
            const BITS: u32;
            /// The value.
            fn wide(self) -> $wide;
            /// The integer with the lowest bits of `value`.
            fn wrap(value: $wide) -> Self;
        }
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
    };
}

integer! {
    /// A signed integer.
    Signed i64; i32 i64
}
integer! {
    /// An unsigned integer.
    Unsigned u64; u32 u64
}
