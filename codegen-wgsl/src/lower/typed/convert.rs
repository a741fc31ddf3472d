//! Conversions between all types.

use super::code::{Code, real, word};
use super::integer::Narrow;
use super::pair::{Pair, small};
use crate::kernel::{Operand, ScalarOp};
use weft_hlo::ir::{BinaryOp, ElementType, FloatFormat, Scalar, UnaryOp};

/// What a number is before it is converted.
#[derive(Copy, Clone)]
enum Number {
    /// Of a type of 32 bits, or a `pred`.
    Plain(Operand),
    /// An integer of 64 bits, with or without a sign.
    Pair(Pair, bool),
    /// An `f64`.
    Double(Pair),
}

/// The type of the parts of a complex number.
pub(super) fn part(complex: ElementType) -> ElementType {
    if complex == ElementType::C128 { ElementType::F64 } else { ElementType::F32 }
}

impl Code {
    /// The number of a small float.
    pub(super) fn decode(&mut self, operand: Operand, from: ElementType) -> Operand {
        self.define(ElementType::F32, ScalarOp::Decode { operand, from })
    }

    /// The bits of the small float nearest to a number.
    pub(super) fn encode(&mut self, operand: Operand, to: ElementType) -> Operand {
        self.define(ElementType::U32, ScalarOp::Encode { operand, to })
    }

    /// An element of one type as one of another: integers wrap around, floats are rounded once and saturate as integers, of complex
    /// numbers the real part counts, and anything but zero is true.
    pub(super) fn converted(&mut self, parts: &[Operand], from: ElementType, to: ElementType) -> Vec<Operand> {
        if from == to {
            return parts.to_vec();
        }
        if let (ElementType::C64, ElementType::Pred) = (from, to) {
            let (re, im) = (self.is_nonzero(parts[0]), self.is_nonzero(parts[1]));
            return vec![self.or(re, im)];
        }
        if let (ElementType::C128, ElementType::Pred) = (from, to) {
            let [re, im] = [&parts[..2], &parts[2..]].map(|part| self.is_nonzero_double(Pair::of(part)));
            return vec![self.or(re, im)];
        }
        if let (ElementType::C64, ElementType::C128) | (ElementType::C128, ElementType::C64) = (from, to) {
            let (from, to) = (part(from), part(to));
            return parts.chunks(parts.len() / 2).flat_map(|part| self.converted(part, from, to)).collect();
        }
        let number = match from {
            ElementType::S64 | ElementType::U64 => Number::Pair(Pair::of(parts), from.is_signed()),
            ElementType::F64 | ElementType::C128 => Number::Double(Pair::of(parts)),
            _ if FloatFormat::of(from).is_some() => Number::Plain(self.decode(parts[0], from)),
            _ => Number::Plain(parts[0]),
        };
        match to {
            ElementType::S64 | ElementType::U64 => self.as_wide(number, to.is_signed()).parts(),
            ElementType::F64 => self.as_double(number).parts(),
            ElementType::C128 => {
                let Pair { low, high } = self.as_double(number);
                vec![low, high, word(0), word(0)]
            }
            ElementType::C64 => vec![self.as_plain(number, ElementType::F32), real(0.0)],
            _ if FloatFormat::of(to).is_some() => {
                let number = self.as_odd(number);
                vec![self.encode(number, to)]
            }
            _ => match Narrow::of(to) {
                Some(narrow) => vec![self.as_narrow(number, narrow)],
                None => vec![self.as_plain(number, to)],
            },
        }
    }

    fn as_plain(&mut self, number: Number, to: ElementType) -> Operand {
        match (number, to) {
            (Number::Plain(operand), _) => self.convert(operand, to),
            (Number::Pair(pair, signed), ElementType::F32) => self.pair_to_float(signed, pair, false),
            (Number::Pair(pair, _), ElementType::Pred) => {
                let is_zero = self.is_zero(pair);
                self.binary(BinaryOp::Xor, is_zero, Operand::Constant(Scalar::Pred(true)))
            }
            (Number::Pair(pair, _), to) => self.bitcast(pair.low, to),
            (Number::Double(pair), ElementType::F32) => self.double_to_float(pair, false),
            (Number::Double(pair), ElementType::Pred) => self.is_nonzero_double(pair),
            (Number::Double(pair), to) => {
                let signed = to.is_signed();
                let whole = self.double_to_pair(signed, pair);
                self.pair_to_index(signed, whole)
            }
        }
    }

    fn as_double(&mut self, number: Number) -> Pair {
        let operand = match number {
            Number::Double(pair) => return pair,
            Number::Pair(pair, signed) => return self.pair_to_double(signed, pair),
            Number::Plain(operand) => operand,
        };
        match self.type_of(operand) {
            ElementType::F32 => self.float_to_double(operand),
            ElementType::Pred => Pair { low: word(0), high: self.select(operand, word(1023 << 20), word(0)) },
            ty => {
                let wide = self.as_wide(number, ty.is_signed());
                self.pair_to_double(ty.is_signed(), wide)
            }
        }
    }

    fn as_wide(&mut self, number: Number, signed: bool) -> Pair {
        let operand = match number {
            Number::Pair(pair, _) => return pair,
            Number::Double(pair) => return self.double_to_pair(signed, pair),
            Number::Plain(operand) => operand,
        };
        match self.type_of(operand) {
            ElementType::F32 => self.float_to_pair(signed, operand),
            ElementType::S32 => {
                let low = self.bitcast(operand, ElementType::U32);
                let thirty_one = Operand::Constant(Scalar::S32(31));
                let sign = self.binary(BinaryOp::ShiftRightArithmetic, operand, thirty_one);
                Pair { low, high: self.bitcast(sign, ElementType::U32) }
            }
            _ => small(self.convert(operand, ElementType::U32)),
        }
    }

    fn as_narrow(&mut self, number: Number, narrow: Narrow) -> Operand {
        let operand = match number {
            Number::Pair(pair, _) => pair.low,
            Number::Double(_) => {
                let whole = self.as_plain(number, narrow.register());
                return narrow.clamped(self, whole);
            }
            Number::Plain(operand) => operand,
        };
        match self.type_of(operand) {
            ElementType::F32 => {
                let whole = self.convert(operand, narrow.register());
                narrow.clamped(self, whole)
            }
            ElementType::Pred => {
                let whole = self.convert(operand, narrow.register());
                narrow.wrapped(self, whole)
            }
            _ => {
                let bits = self.bitcast(operand, narrow.register());
                narrow.wrapped(self, bits)
            }
        }
    }

    /// An `f32` that is rounded to a small float as the number itself would be.
    fn as_odd(&mut self, number: Number) -> Operand {
        let operand = match number {
            Number::Pair(pair, signed) => return self.pair_to_float(signed, pair, true),
            Number::Double(pair) => return self.double_to_float(pair, true),
            Number::Plain(operand) => operand,
        };
        match self.type_of(operand) {
            ElementType::U32 => self.odd_float(operand),
            ElementType::S32 => {
                let bits = self.bitcast(operand, ElementType::U32);
                let negated = self.subtract(word(0), bits);
                let is_negative = self.less(operand, Operand::Constant(Scalar::S32(0)));
                let amount = self.select(is_negative, negated, bits);
                let number = self.odd_float(amount);
                let turned = self.unary(UnaryOp::Negate, number);
                self.select(is_negative, turned, number)
            }
            _ => self.convert(operand, ElementType::F32),
        }
    }
}
