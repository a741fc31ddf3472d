//! Integers of 64 bits as pairs of words.

use super::code::{Code, real, word};
use super::helpers::Helpers;
use crate::kernel::Operand;
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ElementType, Scalar, UnaryOp};

/// The low and the high word of an integer.
#[derive(Copy, Clone)]
pub(super) struct Pair {
    pub(super) low: Operand,
    pub(super) high: Operand,
}

/// An integer whose high word is 0.
pub(super) fn small(low: Operand) -> Pair {
    Pair { low, high: word(0) }
}

/// A constant integer.
pub(super) fn constant(value: u64) -> Pair {
    let half = |bits: u64| Operand::Constant(Scalar::from_bits(u128::from(bits), ElementType::U32));
    Pair { low: half(value), high: half(value >> 32) }
}

impl Pair {
    pub(super) fn parts(self) -> Vec<Operand> {
        vec![self.low, self.high]
    }

    pub(super) fn of(parts: &[Operand]) -> Pair {
        Pair { low: parts[0], high: parts[1] }
    }
}

/// Operations on pairs.
impl Code {
    fn each(&mut self, op: BinaryOp, a: Pair, b: Pair) -> Pair {
        Pair { low: self.binary(op, a.low, b.low), high: self.binary(op, a.high, b.high) }
    }

    pub(super) fn select_pair(&mut self, condition: Operand, a: Pair, b: Pair) -> Pair {
        Pair { low: self.select(condition, a.low, b.low), high: self.select(condition, a.high, b.high) }
    }

    pub(super) fn add_pairs(&mut self, a: Pair, b: Pair) -> Pair {
        let low = self.add(a.low, b.low);
        let carries = self.less(low, a.low);
        let carry = self.convert(carries, ElementType::U32);
        let high = self.add(a.high, b.high);
        Pair { low, high: self.add(high, carry) }
    }

    pub(super) fn subtract_pairs(&mut self, a: Pair, b: Pair) -> Pair {
        let borrows = self.less(a.low, b.low);
        let borrow = self.convert(borrows, ElementType::U32);
        let high = self.subtract(a.high, b.high);
        Pair { low: self.subtract(a.low, b.low), high: self.subtract(high, borrow) }
    }

    fn negate_pair(&mut self, a: Pair) -> Pair {
        self.subtract_pairs(constant(0), a)
    }

    /// The high word of a product, by halves of words.
    fn high_product(&mut self, a: Operand, b: Operand) -> Operand {
        let mask = word(0xffff);
        let half = word(16);
        let (a0, a1) = (self.and(a, mask), self.down(a, half));
        let (b0, b1) = (self.and(b, mask), self.down(b, half));
        let (low, left) = (self.multiply(a0, b0), self.multiply(a1, b0));
        let (right, high) = (self.multiply(a0, b1), self.multiply(a1, b1));
        let carried = self.down(low, half);
        let left_low = self.and(left, mask);
        let right_low = self.and(right, mask);
        let middle = self.add(left_low, right_low);
        let middle = self.add(middle, carried);
        let mut sum = high;
        for part in [left, right, middle] {
            let part = self.down(part, half);
            sum = self.add(sum, part);
        }
        sum
    }

    pub(super) fn multiply_pairs(&mut self, a: Pair, b: Pair) -> Pair {
        let high = self.high_product(a.low, b.low);
        let left = self.multiply(a.low, b.high);
        let right = self.multiply(a.high, b.low);
        let across = self.add(left, right);
        Pair { low: self.multiply(a.low, b.low), high: self.add(high, across) }
    }

    pub(super) fn is_negative(&mut self, a: Pair) -> Operand {
        self.compare(ComparisonDirection::Ge, a.high, word(1 << 31))
    }

    pub(super) fn is_zero(&mut self, a: Pair) -> Operand {
        let any = self.or(a.low, a.high);
        self.equal(any, word(0))
    }

    /// Moved up; by 64 places or more it is 0. The shift of a word by more than 31 is 0, also by what wrapped around.
    pub(super) fn up_pair(&mut self, a: Pair, by: Operand) -> Pair {
        let rest = self.subtract(word(32), by);
        let beyond = self.subtract(by, word(32));
        let own = self.up(a.high, by);
        let carried = self.down(a.low, rest);
        let whole = self.up(a.low, beyond);
        let high = self.or(own, carried);
        Pair { low: self.up(a.low, by), high: self.or(high, whole) }
    }

    pub(super) fn down_pair(&mut self, a: Pair, by: Operand) -> Pair {
        let rest = self.subtract(word(32), by);
        let beyond = self.subtract(by, word(32));
        let own = self.down(a.low, by);
        let carried = self.up(a.high, rest);
        let whole = self.down(a.high, beyond);
        let low = self.or(own, carried);
        Pair { low: self.or(low, whole), high: self.down(a.high, by) }
    }

    /// By at most 63 places.
    fn down_signed(&mut self, a: Pair, by: Operand) -> Pair {
        let signed = self.bitcast(a.high, ElementType::S32);
        let by_signed = self.bitcast(by, ElementType::S32);
        let high = self.binary(BinaryOp::ShiftRightArithmetic, signed, by_signed);
        let high = self.bitcast(high, ElementType::U32);
        let beyond = self.subtract(by, word(32));
        let beyond_signed = self.bitcast(beyond, ElementType::S32);
        let whole = self.binary(BinaryOp::ShiftRightArithmetic, signed, beyond_signed);
        let whole = self.bitcast(whole, ElementType::U32);
        let inner = self.down_pair(a, by);
        let is_inner = self.less(by, word(32));
        Pair { low: self.select(is_inner, inner.low, whole), high }
    }

    /// An amount to shift by: `beyond` if it is 64 or more, or negative.
    fn amount(&mut self, by: Pair, beyond: u32) -> Operand {
        let is_small = self.equal(by.high, word(0));
        let is_less = self.less(by.low, word(64));
        let within = self.and(is_small, is_less);
        self.select(within, by.low, word(beyond))
    }

    pub(super) fn compare_pairs(&mut self, direction: ComparisonDirection, signed: bool, a: Pair, b: Pair) -> Operand {
        use ComparisonDirection::{Eq, Ge, Gt, Le, Lt, Ne};
        match direction {
            Eq | Ne => {
                let low = self.equal(a.low, b.low);
                let high = self.equal(a.high, b.high);
                let equal = self.and(low, high);
                if direction == Eq { equal } else { self.unary(UnaryOp::Not, equal) }
            }
            Gt => self.compare_pairs(Lt, signed, b, a),
            Ge | Le => {
                let (x, y) = if direction == Ge { (a, b) } else { (b, a) };
                let less = self.compare_pairs(Lt, signed, x, y);
                self.unary(UnaryOp::Not, less)
            }
            Lt => {
                let (x, y) = match signed {
                    true => (self.bitcast(a.high, ElementType::S32), self.bitcast(b.high, ElementType::S32)),
                    false => (a.high, b.high),
                };
                let high = self.less(x, y);
                let equal = self.equal(a.high, b.high);
                let low = self.less(a.low, b.low);
                let low = self.and(equal, low);
                self.or(high, low)
            }
        }
    }

    /// The amount, and whether it is of a negative number.
    pub(super) fn magnitude(&mut self, signed: bool, a: Pair) -> (Pair, Operand) {
        if !signed {
            return (a, Operand::Constant(Scalar::Pred(false)));
        }
        let is_negative = self.is_negative(a);
        let negated = self.negate_pair(a);
        (self.select_pair(is_negative, negated, a), is_negative)
    }

    pub(super) fn leading_zeros(&mut self, a: Pair) -> Operand {
        let high = self.unary(UnaryOp::CountLeadingZeros, a.high);
        let low = self.unary(UnaryOp::CountLeadingZeros, a.low);
        let both = self.add(low, word(32));
        let is_small = self.equal(a.high, word(0));
        self.select(is_small, both, high)
    }

    /// `None` for an operation that is not defined on integers.
    pub(super) fn unary_pair(&mut self, op: UnaryOp, signed: bool, a: Pair) -> Option<Pair> {
        Some(match op {
            UnaryOp::Negate => self.negate_pair(a),
            UnaryOp::Not => Pair { low: self.unary(op, a.low), high: self.unary(op, a.high) },
            UnaryOp::Abs => self.magnitude(signed, a).0,
            UnaryOp::Sign => {
                let zero = self.is_zero(a);
                let is_negative = self.is_negative(a);
                let sign = self.select_pair(is_negative, constant(u64::MAX), constant(1));
                self.select_pair(zero, constant(0), sign)
            }
            UnaryOp::CountLeadingZeros => small(self.leading_zeros(a)),
            UnaryOp::PopulationCount => {
                let low = self.unary(op, a.low);
                let high = self.unary(op, a.high);
                small(self.add(low, high))
            }
            _ => return None,
        })
    }

    /// `None` for an operation that is not defined on integers.
    pub(super) fn binary_pair(
        &mut self,
        helpers: &mut Helpers,
        op: BinaryOp,
        signed: bool,
        a: Pair,
        b: Pair,
    ) -> Option<Pair> {
        Some(match op {
            BinaryOp::Add => self.add_pairs(a, b),
            BinaryOp::Subtract => self.subtract_pairs(a, b),
            BinaryOp::Multiply => self.multiply_pairs(a, b),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => self.each(op, a, b),
            BinaryOp::Maximum | BinaryOp::Minimum => {
                let is_less = self.compare_pairs(ComparisonDirection::Lt, signed, a, b);
                let (x, y) = if op == BinaryOp::Maximum { (b, a) } else { (a, b) };
                self.select_pair(is_less, x, y)
            }
            BinaryOp::ShiftLeft => {
                let by = self.amount(b, 64);
                self.up_pair(a, by)
            }
            BinaryOp::ShiftRightLogical => {
                let by = self.amount(b, 64);
                self.down_pair(a, by)
            }
            BinaryOp::ShiftRightArithmetic => {
                let by = self.amount(b, 63);
                self.down_signed(a, by)
            }
            BinaryOp::Divide | BinaryOp::Remainder => {
                let ((x, x_negative), (y, y_negative)) = (self.magnitude(signed, a), self.magnitude(signed, b));
                let [quotient, remainder] = helpers.divide(self, x, y);
                let (result, is_negative) = match op {
                    BinaryOp::Divide => (quotient, self.binary(BinaryOp::Xor, x_negative, y_negative)),
                    _ => (remainder, x_negative),
                };
                let result = if signed {
                    let negated = self.negate_pair(result);
                    self.select_pair(is_negative, negated, result)
                } else {
                    result
                };
                if op == BinaryOp::Divide && signed {
                    let by_zero = self.is_zero(b);
                    self.select_pair(by_zero, constant(u64::MAX), result)
                } else {
                    result
                }
            }
            BinaryOp::Power => {
                let power = helpers.power(self, a, b);
                if !signed {
                    return Some(power);
                }
                // A negative exponent gives 0, unless the base is its own inverse.
                let is_one = self.compare_pairs(ComparisonDirection::Eq, signed, a, constant(1));
                let is_minus_one = self.compare_pairs(ComparisonDirection::Eq, signed, a, constant(u64::MAX));
                let odd = self.and(b.low, word(1));
                let odd = self.equal(odd, word(1));
                let turned = self.select_pair(odd, constant(u64::MAX), constant(1));
                let inverse = self.select_pair(is_minus_one, turned, constant(0));
                let inverse = self.select_pair(is_one, constant(1), inverse);
                let is_negative = self.is_negative(b);
                self.select_pair(is_negative, inverse, power)
            }
            _ => return None,
        })
    }

    /// The nearest `f32`; or, if it is `odd`, one of the two around the integer if it is none, with an odd significand: what is then
    /// rounded to a shorter format is rounded once.
    pub(super) fn pair_to_float(&mut self, signed: bool, a: Pair, odd: bool) -> Operand {
        let (amount, is_negative) = self.magnitude(signed, a);
        let zeros = self.leading_zeros(amount);
        let Pair { low, high } = self.up_pair(amount, zeros);
        let is_cut = self.compare(ComparisonDirection::Ne, low, word(0));
        let cut = self.convert(is_cut, ElementType::U32);
        let rounded = self.or(high, cut);
        let number = if odd { self.odd_float(rounded) } else { self.convert(rounded, ElementType::F32) };
        let exponent = self.subtract(word(127 + 32), zeros);
        let bits = self.up(exponent, word(23));
        let scale = self.bitcast(bits, ElementType::F32);
        let scaled = self.multiply(number, scale);
        let negated = self.unary(UnaryOp::Negate, scaled);
        if signed { self.select(is_negative, negated, scaled) } else { scaled }
    }

    /// A word as an `f32`, with an odd significand if it is none itself.
    pub(super) fn odd_float(&mut self, a: Operand) -> Operand {
        let zeros = self.unary(UnaryOp::CountLeadingZeros, a);
        let places = self.subtract(word(8), zeros);
        let is_long = self.less(zeros, word(8));
        let places = self.select(is_long, places, word(0));
        let ones = self.up(word(1), places);
        let mask = self.subtract(ones, word(1));
        let cut = self.and(a, mask);
        let is_cut = self.compare(ComparisonDirection::Ne, cut, word(0));
        let odd = self.select(is_cut, ones, word(0));
        let rest = self.unary(UnaryOp::Not, mask);
        let kept = self.and(a, rest);
        let kept = self.or(kept, odd);
        self.convert(kept, ElementType::F32)
    }

    /// What is behind the point is lost; the greatest and the least integer are for what is beyond them, 0 for a NaN.
    pub(super) fn float_to_pair(&mut self, signed: bool, x: Operand) -> Pair {
        let bits = self.bitcast(x, ElementType::U32);
        let amount = self.and(bits, word(0x7fff_ffff));
        let exponent = self.down(amount, word(23));
        let significand = self.and(bits, word(0x7f_ffff));
        let significand = self.or(significand, word(0x80_0000));
        // One of the shifts is by a negative number and leaves 0, or both are by 0.
        let places = self.subtract(exponent, word(127 + 23));
        let up = self.amount(small(places), 64);
        let up = self.up_pair(small(significand), up);
        let places = self.subtract(word(127 + 23), exponent);
        let down = self.down(significand, places);
        let number = Pair { low: self.or(up.low, down), high: up.high };
        let is_negative = self.compare(ComparisonDirection::Ge, bits, word(1 << 31));
        let (greatest, least, first) = match signed {
            true => (i64::MAX.cast_unsigned(), i64::MIN.cast_unsigned(), 127 + 63),
            false => (u64::MAX, 0, 127 + 64),
        };
        let negated = if signed { self.negate_pair(number) } else { constant(0) };
        let number = self.select_pair(is_negative, negated, number);
        let limit = self.select_pair(is_negative, constant(least), constant(greatest));
        let is_beyond = self.compare(ComparisonDirection::Ge, exponent, word(first));
        let number = self.select_pair(is_beyond, limit, number);
        let is_nan = self.compare(ComparisonDirection::Gt, amount, word(0x7f80_0000));
        self.select_pair(is_nan, constant(0), number)
    }

    /// The index that a pair is: the nearest one of 32 bits.
    pub(super) fn pair_to_index(&mut self, signed: bool, a: Pair) -> Operand {
        if !signed {
            let is_small = self.equal(a.high, word(0));
            return self.select(is_small, a.low, word(u32::MAX));
        }
        let low = self.bitcast(a.low, ElementType::S32);
        let thirty_one = Operand::Constant(Scalar::S32(31));
        let sign = self.binary(BinaryOp::ShiftRightArithmetic, low, thirty_one);
        let sign = self.bitcast(sign, ElementType::U32);
        let fits = self.equal(sign, a.high);
        let is_negative = self.is_negative(a);
        let [least, greatest] = [i32::MIN, i32::MAX].map(|bound| Operand::Constant(Scalar::S32(bound)));
        let bound = self.select(is_negative, least, greatest);
        self.select(fits, low, bound)
    }

    /// Whether a number differs from zero, as a NaN does.
    pub(super) fn is_nonzero(&mut self, x: Operand) -> Operand {
        self.compare(ComparisonDirection::Ne, x, real(0.0))
    }
}
