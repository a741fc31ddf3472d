//! Quotients of complex numbers.

use super::{Parts, real_like};
use crate::kernel::Operand;
use crate::lower::typed::code::Code;
use weft_hlo::ir::{BinaryOp, ElementType, Scalar, UnaryOp};

impl Code {
    /// The quotient; where it has no number in either part, a zero or an infinity that annex G of C99 finds: `x / 0` is infinite, as is an infinity over a finite number, and a finite number over an
    /// infinity is 0.
    pub(super) fn divide_complex(&mut self, a: Parts, b: Parts) -> Parts {
        let real = real_like(self.type_of(a[0]));
        let quotient = self.quotient(a, b);
        let is_nan = quotient.map(|part| self.is_nan(part));
        let is_nan = self.and(is_nan[0], is_nan[1]);
        let [a_infinite, b_infinite] = [a, b].map(|z| self.any_infinite(z));
        // Beside an infinity other parts are 0, of which only the signs matter.
        let [above, below] = [(a, a_infinite), (b, b_infinite)].map(|(z, is_infinite)| {
            z.map(|part| {
                let is_one = self.is_infinite(part);
                let one = self.select(is_one, real(1.0), real(0.0));
                let sign = self.with_sign(one, part);
                self.select(is_infinite, sign, part)
            })
        });
        let turned = self.unary(UnaryOp::Negate, below[1]);
        let product = self.product(above, [below[0], turned]);
        let end = self.select(a_infinite, real(f64::INFINITY), real(0.0));
        let ends = product.map(|part| self.multiply(part, end));
        let [a_finite, b_finite] = [a, b].map(|z| {
            let is_none = z.map(|part| self.is_not_finite(part));
            let is_none = self.or(is_none[0], is_none[1]);
            self.unary(UnaryOp::Not, is_none)
        });
        let (large, small) = (self.and(a_infinite, b_finite), self.and(b_infinite, a_finite));
        let is_end = self.or(large, small);
        let is_end = self.and(is_end, is_nan);
        let infinity = self.with_sign(real(f64::INFINITY), b[0]);
        let poles = a.map(|part| self.multiply(part, infinity));
        let is_zero = b.map(|part| self.equal(part, real(0.0)));
        let is_pole = self.and(is_zero[0], is_zero[1]);
        let is_pole = self.and(is_pole, is_nan);
        let quotient = self.select_parts(is_end, ends, quotient);
        self.select_parts(is_pole, poles, quotient)
    }

    /// The quotient where it is finite, and the textbook's elsewhere.
    pub(super) fn quotient(&mut self, a: Parts, b: Parts) -> Parts {
        let real = real_like(self.type_of(a[0]));
        let (x, of_x) = self.scaled(a);
        let (y, of_y) = self.scaled(b);
        let square = self.square_length(y);
        // Beside an infinity the scale of the divisor does not matter, but no part of it may be lost.
        let is_infinite = self.any_infinite(a);
        let divisor = self.select_parts(is_infinite, b, y);
        let x = x.map(|part| {
            let less = self.multiply(part, real(0.25));
            self.select(is_infinite, less, part)
        });
        let turned = self.unary(UnaryOp::Negate, divisor[1]);
        let product = self.product(x, [divisor[0], turned]);
        // The power of two by which the quotient was scaled, in two factors that cannot overflow by themselves.
        let of_x = self.bitcast(of_x, ElementType::S32);
        let of_y = self.bitcast(of_y, ElementType::S32);
        let difference = self.subtract(of_x, of_y);
        let one = Operand::Constant(Scalar::S32(1));
        let half = self.binary(BinaryOp::ShiftRightArithmetic, difference, one);
        let rest = self.subtract(difference, half);
        let ty = self.type_of(a[0]);
        let bias = Operand::Constant(Scalar::S32(self.reals(a[0]).bias.cast_signed()));
        let factors = [half, rest].map(|exponent| {
            let biased = self.add(exponent, bias);
            let bits = self.bitcast(biased, ElementType::U32);
            self.power_of_two(bits, ty)
        });
        product.map(|part| {
            let quotient = self.binary(BinaryOp::Divide, part, square);
            let scaled = self.multiply(quotient, factors[0]);
            self.multiply(scaled, factors[1])
        })
    }
}
