//! The four element types, and from each to each.

/// An element of a type that is computed with.
pub(in crate::eval) trait Element: Copy + Default + Send + Sync {
    /// Whether it is not zero; a NaN is not.
    fn to_pred(self) -> bool;
    /// Integers wrap, numbers saturate, NaN gives 0.
    fn to_s32(self) -> i32;
    /// Integers wrap, numbers saturate, NaN gives 0.
    fn to_u32(self) -> u32;
    /// Rounded to nearest, ties to even.
    fn to_f32(self) -> f32;
    /// The element with these bits; a `pred` is 0 or 1.
    fn from_bits(bits: u32) -> Self;
    /// The bits.
    fn to_bits(self) -> u32;
}

impl Element for bool {
    fn to_pred(self) -> bool {
        self
    }
    fn to_s32(self) -> i32 {
        i32::from(self)
    }
    fn to_u32(self) -> u32 {
        u32::from(self)
    }
    fn to_f32(self) -> f32 {
        f32::from(u8::from(self))
    }
    fn from_bits(bits: u32) -> Self {
        bits != 0
    }
    fn to_bits(self) -> u32 {
        u32::from(self)
    }
}

macro_rules! number {
    ($type:ty, $zero:literal, |$from:ident| $from_bits:expr, |$to:ident| $to_bits:expr) => {
        impl Element for $type {
            fn to_pred(self) -> bool {
                self != $zero
            }
            fn to_s32(self) -> i32 {
                self as i32
            }
            fn to_u32(self) -> u32 {
                self as u32
            }
            fn to_f32(self) -> f32 {
                self as f32
            }
            fn from_bits($from: u32) -> Self {
                $from_bits
            }
            fn to_bits(self) -> u32 {
                let $to = self;
                $to_bits
            }
        }
    };
}

number! { i32, 0, |bits| bits as i32, |value| value as u32 }
number! { u32, 0, |bits| bits, |value| value }
number! { f32, 0.0, |bits| f32::from_bits(bits), |value| value.to_bits() }
