//! Numbers as sums of two, the second small beside the first: twice as many places.
//!
//! The algorithms are those of Dekker (1971) and Knuth. A device may fuse products with sums: products here are either exact or so small that
//! rounding them once or twice is the same to the result, and the rounded product that others need is itself a sum.

use super::{Reals, real_like};
use crate::kernel::{Function, FunctionId, Operand};
use crate::lower::typed::code::{Code, word};
use crate::lower::typed::helpers::{call, function};
use crate::lower::typed::pair::Pair;
use weft_hlo::ir::{BinaryOp, ElementType, UnaryOp};

/// `high + low`.
#[derive(Copy, Clone)]
pub(super) struct Sum {
    pub(super) high: Operand,
    pub(super) low: Operand,
}

impl Sum {
    fn parts(self) -> [Operand; 2] {
        [self.high, self.low]
    }

    /// The constant that two numbers of `f64` are.
    pub(super) fn constant(ty: ElementType, high: f64, low: f64) -> Sum {
        let real = real_like(ty);
        match ty {
            ElementType::F64 => Sum { high: real(high), low: real(low) },
            _ => {
                let nearest = f64::from(high as f32);
                Sum { high: real(nearest), low: real(high - nearest + low) }
            }
        }
    }

    /// The constant `1 / n`.
    fn inverse(ty: ElementType, n: u32) -> Sum {
        let n = f64::from(n);
        let inverse = 1.0 / n;
        Sum::constant(ty, inverse, inverse.mul_add(-n, 1.0) / n)
    }
}

/// Odd numbers whose inverses are summed up as sums, in the series of inverse tangents.
const LEADING: [u32; 3] = [3, 5, 7];

/// Operations on such numbers.
impl Code {
    /// A number without the lower half of its significand, and what that takes away.
    fn cut(&mut self, x: Operand) -> [Operand; 2] {
        let upper = match self.type_of(x) {
            ElementType::F64 => {
                let Pair { low, high } = self.split(x);
                let low = self.and(low, word(0xf800_0000));
                self.join(Pair { low, high })
            }
            ty => {
                let bits = self.bitcast(x, ElementType::U32);
                let bits = self.and(bits, word(0xffff_f000));
                self.bitcast(bits, ty)
            }
        };
        [upper, self.subtract(x, upper)]
    }

    /// `a + b`, exactly.
    pub(super) fn exact_sum(&mut self, a: Operand, b: Operand) -> Sum {
        let high = self.add(a, b);
        let of_b = self.subtract(high, a);
        let of_a = self.subtract(high, of_b);
        let (from_a, from_b) = (self.subtract(a, of_a), self.subtract(b, of_b));
        Sum { high, low: self.add(from_a, from_b) }
    }

    /// `a + b`, exactly, where `b` is not the larger.
    fn ordered_sum(&mut self, a: Operand, b: Operand) -> Sum {
        let high = self.add(a, b);
        let of_b = self.subtract(high, a);
        Sum { high, low: self.subtract(b, of_b) }
    }

    /// `a b`: exactly in `f32`, of which the products of halves have all places; in `f64` the last one of four may lose a place.
    pub(super) fn exact_product(&mut self, a: Operand, b: Operand) -> Sum {
        let ([a, a_low], [b, b_low]) = (self.cut(a), self.cut(b));
        let (leading, least) = (self.multiply(a, b), self.multiply(a_low, b_low));
        let across = [self.multiply(a, b_low), self.multiply(a_low, b)];
        let between = self.add(across[0], across[1]);
        let rest = self.add(between, least);
        let high = self.add(leading, rest);
        // What the rounded product lacks has as many places as it needs whichever of its neighbors that is.
        let low = self.subtract(leading, high);
        let low = self.add(low, across[0]);
        let low = self.add(low, across[1]);
        Sum { high, low: self.add(low, least) }
    }

    pub(super) fn add_sums(&mut self, a: Sum, b: Sum) -> Sum {
        let Sum { high, low } = self.exact_sum(a.high, b.high);
        let rest = self.add(a.low, b.low);
        let low = self.add(low, rest);
        self.ordered_sum(high, low)
    }

    pub(super) fn negated(&mut self, a: Sum) -> Sum {
        let [high, low] = a.parts().map(|part| self.unary(UnaryOp::Negate, part));
        Sum { high, low }
    }

    /// The product with a power of two, or its negative.
    pub(super) fn scaled_sum(&mut self, a: Sum, by: Operand) -> Sum {
        let [high, low] = a.parts().map(|part| self.multiply(part, by));
        Sum { high, low }
    }

    pub(super) fn select_sum(&mut self, condition: Operand, a: Sum, b: Sum) -> Sum {
        Sum { high: self.select(condition, a.high, b.high), low: self.select(condition, a.low, b.low) }
    }

    /// A number times a sum.
    pub(super) fn times_sum(&mut self, a: Operand, b: Sum) -> Sum {
        let Sum { high, low } = self.exact_product(a, b.high);
        let rest = self.multiply(a, b.low);
        let low = self.add(low, rest);
        self.ordered_sum(high, low)
    }

    fn multiply_sums(&mut self, a: Sum, b: Sum) -> Sum {
        let Sum { high, low } = self.exact_product(a.high, b.high);
        let across = [self.multiply(a.high, b.low), self.multiply(a.low, b.high)];
        let rest = self.add(across[0], across[1]);
        let low = self.add(low, rest);
        self.ordered_sum(high, low)
    }

    /// Good to a few units in the last place of the low part, whatever the device's quotients are good for.
    fn divide_sums(&mut self, a: Sum, b: Sum) -> Sum {
        let quotient = self.binary(BinaryOp::Divide, a.high, b.high);
        let product = self.exact_product(quotient, b.high);
        let rest = self.subtract(a.high, product.high);
        let rest = self.subtract(rest, product.low);
        let rest = self.add(rest, a.low);
        let more = self.multiply(quotient, b.low);
        let rest = self.subtract(rest, more);
        let correction = self.binary(BinaryOp::Divide, rest, b.high);
        self.ordered_sum(quotient, correction)
    }

    /// The inverse tangent of a quotient, the hyperbolic one where `turn` is 1 and the other where it is -1.
    pub(super) fn arc_of_quotient(&mut self, function: FunctionId, a: Sum, b: Sum, turn: f64) -> Sum {
        let ty = self.type_of(a.high);
        let arguments = vec![a.high, a.low, b.high, b.low, real_like(ty)(turn)];
        let [high, low] = call(self, function, arguments, [ty; 2]);
        Sum { high, low }
    }
}

/// The function of two sums that gives the inverse tangent of their quotient, which is at most 1/4, and 1/5 for the hyperbolic one: of a parameter that is
/// 1 the hyperbolic one, of -1 the other. Good to 2^-43 of itself in `f32`, to 2^-72 in `f64`.
pub(in crate::lower::typed) fn arc(name: &str, ty: ElementType) -> Function {
    let parameters = ["a.high", "a.low", "b.high", "b.low", "turn"].map(|name| (name, ty));
    function(name, parameters, |code, [a, a_low, b, b_low, turn]| {
        let real = real_like(ty);
        let t = code.divide_sums(Sum { high: a, low: a_low }, Sum { high: b, low: b_low });
        let square = code.multiply_sums(t, t);
        let z = code.scaled_sum(square, turn);
        // t + t (z / 3 + z^2 / 5 + z^3 / 7 + ...), of which what follows need not be a sum.
        let Reals { last_of_series, .. } = super::reals(ty);
        let odd = |n: u32| real(1.0 / f64::from(n));
        let mut rest = odd(last_of_series);
        for n in (LEADING[2] + 2..last_of_series).step_by(2).rev() {
            let product = code.multiply(rest, z.high);
            rest = code.add(product, odd(n));
        }
        let mut sum = Sum { high: rest, low: real(0.0) };
        for n in LEADING.into_iter().rev() {
            let product = if n == LEADING[2] { code.times_sum(rest, z) } else { code.multiply_sums(sum, z) };
            sum = code.add_sums(Sum::inverse(ty, n), product);
        }
        let series = code.multiply_sums(sum, z);
        let more = code.multiply_sums(series, t);
        code.add_sums(t, more).parts().to_vec()
    })
}
