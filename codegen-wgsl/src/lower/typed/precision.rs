//! Fewer bits of exponent and mantissa, for floats of at most 16 bits.
//!
//! HLO takes the bits from the number as it is in memory, so that subnormal numbers lose bits of theirs: as an `f32`, which has them as
//! normal ones, they would be rounded elsewhere. XLA takes those of floats of less than 16 bits from an `f16`.

use super::code::{Code, word};
use crate::kernel::Operand;
use weft_hlo::ir::ElementType;

/// The bit of an `f16`'s sign.
const SIGN: u32 = 1 << 15;

/// The pattern of an `f16`'s infinity.
const INFINITY: u32 = 0x7c00;

/// Places of an `f16`'s mantissa, bits of its exponent, and what is added to it.
const PLACES: u32 = 10;
const EXPONENT_BITS: u32 = 5;
const BIAS: u32 = 15;

/// Whether a type's floats are reduced as `f16`.
pub(super) fn is_reduced_as_half(ty: ElementType) -> bool {
    ty.is_float() && ty.bits() <= 16 && !matches!(ty, ElementType::Bf16 | ElementType::F8E8M0Fnu)
}

impl Code {
    /// The pattern of an `f16` with so many bits of exponent and mantissa: the mantissa is rounded, ties to even, then what is too large
    /// becomes an infinity and what has too small an exponent a zero, both with its sign. NaNs stay what they are.
    pub(super) fn reduced_half(&mut self, pattern: Operand, exponent_bits: u32, mantissa_bits: u32) -> Operand {
        let given = self.and(pattern, word(SIGN - 1));
        let mut magnitude = given;
        let dropped = PLACES.saturating_sub(mantissa_bits);
        if dropped > 0 {
            // Half of the last place that stays, less one where that place is even: then a tie is not carried into it.
            let last = self.down(magnitude, word(dropped));
            let odd = self.and(last, word(1));
            let half = self.add(magnitude, word((1 << (dropped - 1)) - 1));
            let rounded = self.add(half, odd);
            magnitude = self.and(rounded, word((SIGN - 1) & !((1 << dropped) - 1)));
        }
        if exponent_bits < EXPONENT_BITS {
            let bias = (1 << (exponent_bits - 1)) - 1;
            let is_small = self.less(magnitude, word((BIAS - bias + 1) << PLACES));
            let is_large = self.less(word(((BIAS + bias + 1) << PLACES) - 1), magnitude);
            let bounded = self.select(is_large, word(INFINITY), magnitude);
            magnitude = self.select(is_small, word(0), bounded);
        }
        let sign = self.and(pattern, word(SIGN));
        let reduced = self.or(sign, magnitude);
        let is_nan = self.less(word(INFINITY), given);
        self.select(is_nan, pattern, reduced)
    }
}
