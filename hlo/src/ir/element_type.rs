//! Types of tensor elements, with XLA's names.

use super::UnknownName;
use std::fmt;
use std::str::FromStr;

macro_rules! element_types {
    ($($variant:ident $name:literal $bits:literal $class:ident,)*) => {
        /// The type of a tensor's elements (XLA's primitive types that tensors may hold).
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ElementType {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )*
        }

        impl ElementType {
            /// Every type, in the order of declaration.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant,)*];

            /// The name in HLO text.
            pub fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name,)* }
            }

            /// Bits of information in one element; `pred` counts as 8, as XLA stores it.
            pub fn bits(self) -> u32 {
                match self { $(ElementType::$variant => $bits,)* }
            }

            fn class(self) -> Class {
                match self { $(ElementType::$variant => Class::$class,)* }
            }
        }

        impl FromStr for ElementType {
            type Err = UnknownName;
            fn from_str(name: &str) -> Result<Self, UnknownName> {
                match name {
                    $($name => Ok(ElementType::$variant),)*
                    _ => Err(UnknownName::new("ElementType", name)),
                }
            }
        }
    };
}

#[derive(PartialEq, Eq)]
enum Class {
    Pred,
    Signed,
    Unsigned,
    Float,
    Complex,
}

element_types! {
    Pred "pred" 8 Pred,
    S1 "s1" 1 Signed, S2 "s2" 2 Signed, S4 "s4" 4 Signed, S8 "s8" 8 Signed,
    S16 "s16" 16 Signed, S32 "s32" 32 Signed, S64 "s64" 64 Signed,
    U1 "u1" 1 Unsigned, U2 "u2" 2 Unsigned, U4 "u4" 4 Unsigned, U8 "u8" 8 Unsigned,
    U16 "u16" 16 Unsigned, U32 "u32" 32 Unsigned, U64 "u64" 64 Unsigned,
    F4E2M1Fn "f4e2m1fn" 4 Float, F6E2M3Fn "f6e2m3fn" 6 Float, F6E3M2Fn "f6e3m2fn" 6 Float,
    F8E3M4 "f8e3m4" 8 Float, F8E4M3 "f8e4m3" 8 Float, F8E4M3B11Fnuz "f8e4m3b11fnuz" 8 Float,
    F8E4M3Fn "f8e4m3fn" 8 Float, F8E4M3Fnuz "f8e4m3fnuz" 8 Float, F8E5M2 "f8e5m2" 8 Float,
    F8E5M2Fnuz "f8e5m2fnuz" 8 Float, F8E8M0Fnu "f8e8m0fnu" 8 Float,
    F16 "f16" 16 Float, Bf16 "bf16" 16 Float, F32 "f32" 32 Float, F64 "f64" 64 Float,
    C64 "c64" 64 Complex, C128 "c128" 128 Complex,
}

impl ElementType {
    /// Whether this is a real floating-point type.
    pub fn is_float(self) -> bool {
        self.class() == Class::Float
    }

    /// Whether this is a signed integer type.
    pub fn is_signed(self) -> bool {
        self.class() == Class::Signed
    }

    /// Whether this is an unsigned integer type.
    pub fn is_unsigned(self) -> bool {
        self.class() == Class::Unsigned
    }

    /// Whether this is an integer type, signed or not; `pred` is none.
    pub fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// Whether this is a complex type.
    pub fn is_complex(self) -> bool {
        self.class() == Class::Complex
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
