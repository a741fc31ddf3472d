//! The angle of a point of complex coordinates.

use super::{Parts, real_like};
use crate::kernel::Operand;
use crate::lower::typed::code::{Code, word};
use std::f64::consts::{FRAC_PI_2, PI};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, UnaryOp};

impl Code {
    /// `-i log((x + i y) / sqrt(x^2 + y^2))`.
    ///
    /// With `u = x + i y` and `v = x - i y` it is half the difference of their angles, and `-i / 4` times the logarithm of the ratio of the
    /// squares of their lengths. Nothing cancels in these sums but what is small beside the other part of the result.
    pub(super) fn atan2_complex(&mut self, y: Parts, x: Parts) -> Parts {
        let real = real_like(self.type_of(x[0]));
        let side = self.side_of_half_turn(y, x);
        let [x, y] = self.scaled_alike(x, y);
        let u = [self.subtract(x[0], y[1]), self.add(x[1], y[0])];
        let v = [self.add(x[0], y[1]), self.subtract(x[1], y[0])];
        let (of_u, of_v) = (self.square_length(u), self.square_length(v));
        let is_below = self.is_below([x, y]);
        let re = self.half_difference([u, v], [x, y], is_below, side);

        // |u|^2 - |v|^2 is four times this.
        let (first, second) = (self.multiply(x[1], y[0]), self.multiply(x[0], y[1]));
        let turned = self.subtract(first, second);
        let is_less = self.less(of_u, of_v);
        let least = self.select(is_less, of_u, of_v);
        let size = self.magnitude_of(turned);
        let four = self.multiply(size, real(4.0));
        let ratio = self.binary(BinaryOp::Divide, four, least);
        let log = self.unary(UnaryOp::LogPlusOne, ratio);
        let quarter = self.multiply(log, real(0.25));
        let against = self.unary(UnaryOp::Negate, turned);
        let im = self.with_sign(quarter, against);

        // At the poles, and where a part is not finite, there is none.
        let is_pole = self.equal(least, real(0.0));
        let sum = self.add(of_u, of_v);
        let is_not_finite = self.is_not_finite(sum);
        let has_none = self.or(is_pole, is_not_finite);
        [re, im].map(|part| self.select(has_none, real(f64::NAN), part))
    }

    /// Both numbers scaled by the power of two by which the largest of their parts is about 1.
    fn scaled_alike(&mut self, x: Parts, y: Parts) -> [Parts; 2] {
        let ([of_x, _], [of_y, _]) = (self.sorted(x), self.sorted(y));
        let exponents = [self.exponent_bits(of_x), self.exponent_bits(of_y)];
        let exponent = self.binary(BinaryOp::Maximum, exponents[0], exponents[1]);
        let inverse = self.subtract(word(2 * self.reals(of_x).bias), exponent);
        let scale = self.power_of_two(inverse, self.type_of(of_x));
        [x, y].map(|number| number.map(|part| self.multiply(part, scale)))
    }

    /// A number with the sign that half a turn has: against that of the scalar product, or y's where that is zero. The numbers are scaled each by
    /// itself, so that the sign is known also where the angle between them is lost beside half a turn.
    fn side_of_half_turn(&mut self, y: Parts, x: Parts) -> Operand {
        let real = real_like(self.type_of(x[0]));
        let [of_x, of_y] = [x, y].map(|number| self.scaled(number).0);
        let (first, second) = (self.multiply(of_x[0], of_y[0]), self.multiply(of_x[1], of_y[1]));
        let product = self.add(first, second);
        let against = self.unary(UnaryOp::Negate, product);
        let is_neither = self.equal(product, real(0.0));
        self.select(is_neither, y[0], against)
    }

    /// Whether the imaginary part of the sum of the squares of two numbers is negative, or -0.
    fn is_below(&mut self, numbers: [Parts; 2]) -> Operand {
        let [x, y] = numbers.map(|number| {
            let product = self.multiply(number[0], number[1]);
            self.add(product, product)
        });
        let sum = self.add(x, y);
        let bits = self.upper_bits(sum);
        self.compare(ComparisonDirection::Ge, bits, word(1 << 31))
    }

    /// Half the difference of the angles of `u = x + i y` and `v = x - i y`, within half a turn, on the branch of the root of their product,
    /// whose imaginary part is negative or not; `side` has the sign of half a turn.
    fn half_difference(&mut self, [u, v]: [Parts; 2], [x, y]: [Parts; 2], is_below: Operand, side: Operand) -> Operand {
        let real = real_like(self.type_of(x[0]));
        let (a, b) = (self.binary(BinaryOp::Atan2, u[1], u[0]), self.binary(BinaryOp::Atan2, v[1], v[0]));
        let difference = self.subtract(a, b);
        let far = self.multiply(difference, real(0.5));
        // Where y is small beside x, from the angle of u times the conjugate of v: |x|^2 - |y|^2 and twice the scalar product.
        let (of_x, of_y) = (self.square_length(x), self.square_length(y));
        let (first, second) = (self.multiply(x[0], y[0]), self.multiply(x[1], y[1]));
        let product = self.add(first, second);
        let twice = self.multiply(product, real(2.0));
        let less = self.subtract(of_x, of_y);
        let angle = self.binary(BinaryOp::Atan2, twice, less);
        let near = self.multiply(angle, real(0.5));
        let apart = self.subtract(far, near);
        let near = self.turned_by_half(near, apart, FRAC_PI_2, 1.0);
        let four = self.multiply(of_y, real(4.0));
        let is_near = self.less(four, of_x);
        let half = self.select(is_near, near, far);

        // The root of the product has half of the sum of the angles, brought within a turn: by the sign of its square's imaginary part,
        // which is nearer the truth than the sum.
        let sum = self.add(a, b);
        let is_above = self.unary(UnaryOp::Not, is_below);
        let [upper, lower] = [(1.0, is_below, ComparisonDirection::Gt), (-1.0, is_above, ComparisonDirection::Lt)].map(
            |(sign, is_crossed, direction)| {
                let is_wide = self.compare(direction, sum, real(sign * FRAC_PI_2));
                let is_crossed = self.and(is_wide, is_crossed);
                let is_certain = self.compare(direction, sum, real(sign * 3.0 * FRAC_PI_2));
                self.or(is_crossed, is_certain)
            },
        );
        let is_turned = self.or(upper, lower);
        let half_turn = self.with_sign(real(PI), side);
        let more = self.add(half, half_turn);
        let turned = self.select(is_turned, more, half);
        // Within half a turn to both sides.
        self.turned_by_half(turned, turned, PI, -2.0)
    }

    /// An angle with so many half turns added where another one is more than `limit`, and taken away where that is less than `-limit`.
    fn turned_by_half(&mut self, angle: Operand, by: Operand, limit: f64, halves: f64) -> Operand {
        let real = real_like(self.type_of(angle));
        let is_over = self.compare(ComparisonDirection::Gt, by, real(limit));
        let is_under = self.less(by, real(-limit));
        let (more, less) = (self.add(angle, real(halves * PI)), self.subtract(angle, real(halves * PI)));
        let turned = self.select(is_under, less, angle);
        self.select(is_over, more, turned)
    }
}
