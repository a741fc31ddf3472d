//! Types of tensor elements, with XLA's names.

use super::UnknownName;
use std::fmt;
use std::str::FromStr;

/// Calls a macro with the table of all element types, a row for each:
///
/// `Variant "name" bits kind owner[native] word [format];`
///
/// - The name is XLA's; `pred` has 8 bits, as XLA stores it.
/// - The kind is `pred`, `signed`, `unsigned`, `float` or `complex`.
/// - The native type holds the elements of arrays; its owner is `own` where this crate makes it for the row (of an integer of less
///   than eight bits, of a float of at most eight), else `foreign`.
/// - The word is the variant of [`Words`](super::Words) with the size of the native type: what only moves elements moves those.
/// - The format of a float is that of [`FloatFormat`](super::FloatFormat): bits of exponent, bits of mantissa, bias, and which
///   patterns are no numbers.
///
/// Whatever else there is to know of a type is computed from its row.
macro_rules! for_each_element_type {
    ($callback:ident) => {
        $callback! {
            Pred "pred" 8 pred foreign[bool] U8 [];
            S1 "s1" 1 signed own[$crate::ir::S1] U8 [];
            S2 "s2" 2 signed own[$crate::ir::S2] U8 [];
            S4 "s4" 4 signed own[$crate::ir::S4] U8 [];
            S8 "s8" 8 signed foreign[i8] U8 [];
            S16 "s16" 16 signed foreign[i16] U16 [];
            S32 "s32" 32 signed foreign[i32] U32 [];
            S64 "s64" 64 signed foreign[i64] U64 [];
            U1 "u1" 1 unsigned own[$crate::ir::U1] U8 [];
            U2 "u2" 2 unsigned own[$crate::ir::U2] U8 [];
            U4 "u4" 4 unsigned own[$crate::ir::U4] U8 [];
            U8 "u8" 8 unsigned foreign[u8] U8 [];
            U16 "u16" 16 unsigned foreign[u16] U16 [];
            U32 "u32" 32 unsigned foreign[u32] U32 [];
            U64 "u64" 64 unsigned foreign[u64] U64 [];
            F4E2M1Fn "f4e2m1fn" 4 float own[$crate::ir::F4E2M1Fn] U8 [2 1 1 Nothing];
            F6E2M3Fn "f6e2m3fn" 6 float own[$crate::ir::F6E2M3Fn] U8 [2 3 1 Nothing];
            F6E3M2Fn "f6e3m2fn" 6 float own[$crate::ir::F6E3M2Fn] U8 [3 2 3 Nothing];
            F8E3M4 "f8e3m4" 8 float own[$crate::ir::F8E3M4] U8 [3 4 3 Ieee];
            F8E4M3 "f8e4m3" 8 float own[$crate::ir::F8E4M3] U8 [4 3 7 Ieee];
            F8E4M3B11Fnuz "f8e4m3b11fnuz" 8 float own[$crate::ir::F8E4M3B11Fnuz] U8 [4 3 11 NegativeZero];
            F8E4M3Fn "f8e4m3fn" 8 float own[$crate::ir::F8E4M3Fn] U8 [4 3 7 AllOnes];
            F8E4M3Fnuz "f8e4m3fnuz" 8 float own[$crate::ir::F8E4M3Fnuz] U8 [4 3 8 NegativeZero];
            F8E5M2 "f8e5m2" 8 float own[$crate::ir::F8E5M2] U8 [5 2 15 Ieee];
            F8E5M2Fnuz "f8e5m2fnuz" 8 float own[$crate::ir::F8E5M2Fnuz] U8 [5 2 16 NegativeZero];
            F8E8M0Fnu "f8e8m0fnu" 8 float own[$crate::ir::F8E8M0Fnu] U8 [8 0 127 Unsigned];
            F16 "f16" 16 float foreign[half::f16] U16 [5 10 15 Ieee];
            Bf16 "bf16" 16 float foreign[half::bf16] U16 [8 7 127 Ieee];
            F32 "f32" 32 float foreign[f32] U32 [8 23 127 Ieee];
            F64 "f64" 64 float foreign[f64] U64 [11 52 1023 Ieee];
            C64 "c64" 64 complex foreign[num_complex::Complex<f32>] U32x2 [];
            C128 "c128" 128 complex foreign[num_complex::Complex<f64>] U64x2 [];
        }
    };
}

pub(crate) use for_each_element_type;

macro_rules! element_types {
    ($($variant:ident $name:literal $bits:literal $kind:ident $owner:ident[$native:ty] $word:ident [$($format:tt)*];)*) => {
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

            fn kind(self) -> Kind {
                match self { $(ElementType::$variant => kind!($kind),)* }
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

macro_rules! kind {
    (pred) => {
        Kind::Pred
    };
    (signed) => {
        Kind::Signed
    };
    (unsigned) => {
        Kind::Unsigned
    };
    (float) => {
        Kind::Float
    };
    (complex) => {
        Kind::Complex
    };
}

#[derive(PartialEq, Eq)]
enum Kind {
    Pred,
    Signed,
    Unsigned,
    Float,
    Complex,
}

for_each_element_type! { element_types }

impl ElementType {
    /// Whether this is a real floating-point type.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// Whether this is a signed integer type.
    pub fn is_signed(self) -> bool {
        self.kind() == Kind::Signed
    }

    /// Whether this is an unsigned integer type.
    pub fn is_unsigned(self) -> bool {
        self.kind() == Kind::Unsigned
    }

    /// Whether this is an integer type, signed or not; `pred` is none.
    pub fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// Whether this is a complex type.
    pub fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
