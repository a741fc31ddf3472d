//! Floats of 64 bits as their bits: pairs of words, and numbers for the length of an operation.
//!
//! What only looks at bits (signs, orders, conversions) needs no `f64` of the device.

use super::code::{Code, word};
use super::pair::{Pair, constant};
use crate::kernel::{Operand, ScalarOp};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, Scalar, UnaryOp};

/// The bit of the sign, in the high word.
const SIGN: u32 = 1 << 31;

/// The high word of infinity: the exponent's bits.
const INFINITY: u32 = 0x7ff0_0000;

/// Places of a significand behind the point, and those in the high word.
const PLACES: u32 = 52;
const HIGH_PLACES: u32 = PLACES - 32;

/// What is added to an exponent, in 64 bits and in 32.
const BIAS: u32 = 1023;
const BIAS_32: u32 = 127;

impl Code {
    /// The number that a pair of words is.
    pub(super) fn join(&mut self, Pair { low, high }: Pair) -> Operand {
        if let (Operand::Constant(low), Operand::Constant(high)) = (low, high) {
            return Operand::Constant(Scalar::from_bits(low.bits() | high.bits() << 32, ElementType::F64));
        }
        if let Some(known) = self.joined(low, high) {
            return known;
        }
        self.define(ElementType::F64, ScalarOp::Join { operands: [low, high] })
    }

    /// The number whose halves two words are, where they were taken from it in sight.
    fn joined(&self, low: Operand, high: Operand) -> Option<Operand> {
        let half_of = |word: Operand| match word {
            Operand::Value(value) => self.halves.get(&value).copied(),
            Operand::Constant(_) => None,
        };
        // Where a half is in sight, so is what it was taken from.
        let ((number, false), (other, true)) = (half_of(low)?, half_of(high)?) else { return None };
        (number == other).then_some(number)
    }

    /// The words of a number.
    pub(super) fn split(&mut self, number: Operand) -> Pair {
        if let Operand::Constant(scalar) = number {
            let half = |bits: u128| Operand::Constant(Scalar::from_bits(bits & u128::from(u32::MAX), ElementType::U32));
            return Pair { low: half(scalar.bits()), high: half(scalar.bits() >> 32) };
        }
        let mut half = |is_high| {
            let half = self.define(ElementType::U32, ScalarOp::Half { operand: number, is_high });
            if let Operand::Value(value) = half {
                self.halves.insert(value, (number, is_high));
            }
            half
        };
        Pair { low: half(false), high: half(true) }
    }

    fn magnitude_of_double(&mut self, x: Pair) -> Pair {
        Pair { low: x.low, high: self.and(x.high, word(!SIGN)) }
    }

    /// Whether the number with these bits, without a sign, is a NaN.
    fn is_nan_double(&mut self, magnitude: Pair) -> Operand {
        self.compare_pairs(ComparisonDirection::Gt, false, magnitude, Pair { low: word(0), high: word(INFINITY) })
    }

    pub(super) fn unary_double(&mut self, op: UnaryOp, x: Pair) -> Vec<Operand> {
        let result = match op {
            UnaryOp::Negate => Pair { low: x.low, high: self.binary(BinaryOp::Xor, x.high, word(SIGN)) },
            UnaryOp::Abs => self.magnitude_of_double(x),
            UnaryOp::IsFinite => {
                let magnitude = self.magnitude_of_double(x);
                return vec![self.less(magnitude.high, word(INFINITY))];
            }
            UnaryOp::Sign => {
                let magnitude = self.magnitude_of_double(x);
                let is_zero = self.is_zero(magnitude);
                let is_nan = self.is_nan_double(magnitude);
                let is_itself = self.or(is_zero, is_nan);
                let sign = self.and(x.high, word(SIGN));
                let one = Pair { low: word(0), high: self.or(sign, word(BIAS << HIGH_PLACES)) };
                self.select_pair(is_itself, x, one)
            }
            _ => {
                let number = self.join(x);
                let result = self.unary(op, number);
                self.split(result)
            }
        };
        result.parts()
    }

    pub(super) fn binary_double(&mut self, op: BinaryOp, a: Pair, b: Pair) -> Pair {
        if !matches!(op, BinaryOp::Maximum | BinaryOp::Minimum) {
            let (a, b) = (self.join(a), self.join(b));
            let result = self.binary(op, a, b);
            return self.split(result);
        }
        let direction = if op == BinaryOp::Maximum { ComparisonDirection::Gt } else { ComparisonDirection::Lt };
        let is_beyond = self.compare_doubles(direction, Some(ComparisonType::TotalOrder), a, b);
        let magnitudes = [a, b].map(|number| self.magnitude_of_double(number));
        let [a_is_nan, b_is_nan] = magnitudes.map(|magnitude| self.is_nan_double(magnitude));
        let chosen = self.select_pair(is_beyond, a, b);
        let chosen = self.select_pair(b_is_nan, b, chosen);
        self.select_pair(a_is_nan, a, chosen)
    }

    pub(super) fn compare_doubles(
        &mut self,
        direction: ComparisonDirection,
        order: Option<ComparisonType>,
        a: Pair,
        b: Pair,
    ) -> Operand {
        if order == Some(ComparisonType::TotalOrder) {
            let [a, b] = [a, b].map(|number| self.total_order_double(number));
            return self.compare_pairs(direction, true, a, b);
        }
        let magnitudes = [a, b].map(|number| self.magnitude_of_double(number));
        let nans = magnitudes.map(|magnitude| self.is_nan_double(magnitude));
        let any = self.or(nans[0], nans[1]);
        // Both zeros are 0, and what is negative is as far below it as its magnitude tells.
        let [a, b] = [(a, magnitudes[0]), (b, magnitudes[1])].map(|(number, magnitude)| {
            let is_negative = self.is_negative(number);
            let negated = self.subtract_pairs(constant(0), magnitude);
            self.select_pair(is_negative, negated, magnitude)
        });
        let holds = self.compare_pairs(direction, true, a, b);
        if direction == ComparisonDirection::Ne {
            return self.or(any, holds);
        }
        let none = self.unary(UnaryOp::Not, any);
        self.and(none, holds)
    }

    /// A signed integer with the number's place among all, NaNs at the ends.
    fn total_order_double(&mut self, x: Pair) -> Pair {
        let is_negative = self.is_negative(x);
        let turned =
            Pair { low: self.unary(UnaryOp::Not, x.low), high: self.binary(BinaryOp::Xor, x.high, word(!SIGN)) };
        self.select_pair(is_negative, turned, x)
    }

    /// Whether a number is other than zero; a NaN is.
    pub(super) fn is_nonzero_double(&mut self, x: Pair) -> Operand {
        let magnitude = self.magnitude_of_double(x);
        let is_zero = self.is_zero(magnitude);
        self.unary(UnaryOp::Not, is_zero)
    }

    /// The number that an `f32` is.
    pub(super) fn float_to_double(&mut self, x: Operand) -> Pair {
        let bits = self.bitcast(x, ElementType::U32);
        let sign = self.and(bits, word(SIGN));
        let magnitude = self.and(bits, word(!SIGN));
        let exponent = self.down(magnitude, word(23));
        // What is subnormal is moved up until its first place is that before the point.
        let zeros = self.unary(UnaryOp::CountLeadingZeros, magnitude);
        let up = self.subtract(zeros, word(8));
        let is_subnormal = self.equal(exponent, word(0));
        let up = self.select(is_subnormal, up, word(0));
        let below = self.subtract(word(1), up);
        let own = self.select(is_subnormal, below, exponent);
        let moved = self.add(own, word(BIAS - BIAS_32));
        let is_special = self.equal(exponent, word(255));
        let moved = self.select(is_special, word(INFINITY >> HIGH_PLACES), moved);
        let significand = self.up(magnitude, up);
        let significand = self.and(significand, word(0x7f_ffff));
        let places = self.down(significand, word(23 - HIGH_PLACES));
        let exponent = self.up(moved, word(HIGH_PLACES));
        let high = self.or(exponent, places);
        let number = Pair { low: self.up(significand, word(32 - (23 - HIGH_PLACES))), high };
        let is_zero = self.equal(magnitude, word(0));
        let number = self.select_pair(is_zero, constant(0), number);
        Pair { low: number.low, high: self.or(number.high, sign) }
    }

    /// The nearest `f32`; or, if it is `odd`, one of the two around a number that is none, with an odd significand: what is then
    /// rounded to a shorter format is rounded once.
    pub(super) fn double_to_float(&mut self, x: Pair, odd: bool) -> Operand {
        let sign = self.and(x.high, word(SIGN));
        let magnitude = self.magnitude_of_double(x);
        let exponent = self.down(magnitude.high, word(HIGH_PLACES));
        // The significand with three places more than an f32 has, the last for whatever else was cut off.
        let high = self.and(magnitude.high, word((1 << HIGH_PLACES) - 1));
        let high = self.or(high, word(1 << HIGH_PLACES));
        let upper = self.up(high, word(6));
        let lower = self.down(x.low, word(26));
        let kept = self.or(upper, lower);
        let rest = self.up(x.low, word(6));
        let is_cut = self.compare(ComparisonDirection::Ne, rest, word(0));
        let cut = self.convert(is_cut, ElementType::U32);
        let kept = self.or(kept, cut);
        // Below the least normal number more places are cut off.
        let least = BIAS - BIAS_32 + 1;
        let missing = self.subtract(word(least), exponent);
        let is_small = self.less(exponent, word(least));
        let missing = self.select(is_small, missing, word(0));
        let missing = self.binary(BinaryOp::Minimum, missing, word(27));
        let shifted = self.down(kept, missing);
        let again = self.up(shifted, missing);
        let is_cut = self.compare(ComparisonDirection::Ne, again, kept);
        let cut = self.convert(is_cut, ElementType::U32);
        let kept = self.or(shifted, cut);
        let whole = self.down(kept, word(3));
        let rest = self.and(kept, word(7));
        let (rounded, over) = if odd {
            let is_cut = self.compare(ComparisonDirection::Ne, rest, word(0));
            let cut = self.convert(is_cut, ElementType::U32);
            (self.or(whole, cut), 0x7f7f_ffff)
        } else {
            let last = self.and(whole, word(1));
            let ties = self.or(rest, last);
            let is_up = self.compare(ComparisonDirection::Gt, ties, word(4));
            let up = self.convert(is_up, ElementType::U32);
            (self.add(whole, up), 0x7f80_0000)
        };
        // The place before the point counts as one of the exponent.
        let above = self.subtract(exponent, word(least));
        let above = self.select(is_small, word(0), above);
        let above = self.up(above, word(23));
        let number = self.add(above, rounded);
        let is_over = self.compare(ComparisonDirection::Ge, exponent, word(least + 254));
        let number = self.select(is_over, word(over), number);
        let is_infinite = self.compare(ComparisonDirection::Ge, magnitude.high, word(INFINITY));
        let number = self.select(is_infinite, word(0x7f80_0000), number);
        let is_nan = self.is_nan_double(magnitude);
        let number = self.select(is_nan, word(0x7fc0_0000), number);
        let is_zero = self.is_zero(magnitude);
        let number = self.select(is_zero, word(0), number);
        let number = self.or(number, sign);
        self.bitcast(number, ElementType::F32)
    }

    /// The number nearest to an integer, ties to even.
    pub(super) fn pair_to_double(&mut self, signed: bool, a: Pair) -> Pair {
        let (amount, is_negative) = self.magnitude(signed, a);
        let zeros = self.leading_zeros(amount);
        let moved = self.up_pair(amount, zeros);
        let dropped = 63 - PLACES;
        let whole = self.down_pair(moved, word(dropped));
        let rest = self.and(moved.low, word((1 << dropped) - 1));
        let last = self.and(whole.low, word(1));
        let ties = self.or(rest, last);
        let half = word(1 << (dropped - 1));
        let is_half = self.equal(rest, half);
        let compared = self.select(is_half, ties, rest);
        let is_up = self.compare(ComparisonDirection::Gt, compared, half);
        let up = self.convert(is_up, ElementType::U32);
        let rounded = self.add_pairs(whole, super::pair::small(up));
        // The place before the point counts as one of the exponent.
        let exponent = self.subtract(word(BIAS + 62), zeros);
        let exponent = self.up(exponent, word(HIGH_PLACES));
        let high = self.add(rounded.high, exponent);
        let sign = self.select(is_negative, word(SIGN), word(0));
        let high = self.or(high, sign);
        let is_zero = self.is_zero(amount);
        self.select_pair(is_zero, constant(0), Pair { low: rounded.low, high })
    }

    /// What is behind the point is lost; the greatest and the least integer are for what is beyond them, 0 for a NaN.
    pub(super) fn double_to_pair(&mut self, signed: bool, x: Pair) -> Pair {
        let magnitude = self.magnitude_of_double(x);
        let exponent = self.down(magnitude.high, word(HIGH_PLACES));
        let high = self.and(x.high, word((1 << HIGH_PLACES) - 1));
        let significand = Pair { low: x.low, high: self.or(high, word(1 << HIGH_PLACES)) };
        // One of the shifts is by a negative number and leaves 0, or both are by 0.
        let places = self.subtract(exponent, word(BIAS + PLACES));
        let up = self.binary(BinaryOp::Minimum, places, word(64));
        let up = self.up_pair(significand, up);
        let places = self.subtract(word(BIAS + PLACES), exponent);
        let down = self.binary(BinaryOp::Minimum, places, word(64));
        let down = self.down_pair(significand, down);
        let number = Pair { low: self.or(up.low, down.low), high: self.or(up.high, down.high) };
        let is_negative = self.is_negative(x);
        let (greatest, least, first) = match signed {
            true => (i64::MAX.cast_unsigned(), i64::MIN.cast_unsigned(), BIAS + 63),
            false => (u64::MAX, 0, BIAS + 64),
        };
        let negated = if signed { self.subtract_pairs(constant(0), number) } else { constant(0) };
        let number = self.select_pair(is_negative, negated, number);
        let limit = self.select_pair(is_negative, constant(least), constant(greatest));
        let is_beyond = self.compare(ComparisonDirection::Ge, exponent, word(first));
        let number = self.select_pair(is_beyond, limit, number);
        let is_nan = self.is_nan_double(magnitude);
        self.select_pair(is_nan, constant(0), number)
    }
}
