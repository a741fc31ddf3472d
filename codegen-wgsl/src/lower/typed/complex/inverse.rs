//! Inverse functions of complex numbers: trigonometric and hyperbolic ones.

use super::{Parts, real_like};
use crate::kernel::Operand;
use crate::lower::typed::code::Code;
use weft_hlo::ir::{BinaryOp, ComparisonDirection, UnaryOp};

impl Code {
    /// The roots of `1 - z` and `1 + z`.
    fn roots_around_one(&mut self, z: Parts) -> [Parts; 2] {
        let real = real_like(self.type_of(z[0]));
        let (below, above) = (self.subtract(real(1.0), z[0]), self.add(real(1.0), z[0]));
        let turned = self.unary(UnaryOp::Negate, z[1]);
        [self.sqrt_complex([below, turned]), self.sqrt_complex([above, z[1]])]
    }

    /// The inverse hyperbolic sine of the imaginary part of the conjugate of one number, times another.
    fn asinh_of_product(&mut self, conjugated: Parts, other: Parts) -> Operand {
        let (x, y) = (self.multiply(conjugated[0], other[1]), self.multiply(conjugated[1], other[0]));
        let imaginary = self.subtract(x, y);
        self.unary(UnaryOp::Asinh, imaginary)
    }

    fn twice_atan2(&mut self, y: Operand, x: Operand) -> Operand {
        let half = self.binary(BinaryOp::Atan2, y, x);
        self.add(half, half)
    }

    /// Whether 1 is nothing beside a number, or the number none.
    fn is_large(&mut self, z: Parts) -> Operand {
        let real = real_like(self.type_of(z[0]));
        let reals = self.reals(z[0]);
        let [x, y] = z.map(|part| {
            let magnitude = self.magnitude_of(part);
            self.compare(ComparisonDirection::Le, magnitude, real(reals.large_number))
        });
        let is_moderate = self.and(x, y);
        self.unary(UnaryOp::Not, is_moderate)
    }

    /// Whether the real part is zero and the imaginary one no number.
    fn is_zero_beside_nan(&mut self, z: Parts) -> Operand {
        let real = real_like(self.type_of(z[0]));
        let (is_zero, is_nan) = (self.equal(z[0], real(0.0)), self.is_nan(z[1]));
        self.and(is_zero, is_nan)
    }

    /// The logarithm of twice the length of a number.
    fn log_of_twice(&mut self, z: Parts) -> Operand {
        let real = real_like(self.type_of(z[0]));
        let log = self.log_of_length(z);
        self.add(log, real(std::f64::consts::LN_2))
    }

    pub(super) fn acos_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let [below, above] = self.roots_around_one(z);
        let near = [self.twice_atan2(below[0], above[0]), self.asinh_of_product(above, below)];
        let y = self.magnitude_of(z[1]);
        let log = self.log_of_twice(z);
        let turned = self.unary(UnaryOp::Negate, z[1]);
        let angle = self.binary(BinaryOp::Atan2, y, z[0]);
        let is_beside_nan = self.is_zero_beside_nan(z);
        let angle = self.select(is_beside_nan, real(std::f64::consts::FRAC_PI_2), angle);
        let far = [angle, self.with_sign(log, turned)];
        let is_large = self.is_large(z);
        self.select_parts(is_large, far, near)
    }

    pub(super) fn asin_complex(&mut self, z: Parts) -> Parts {
        let [below, above] = self.roots_around_one(z);
        let product = self.product(below, above);
        let near = [self.binary(BinaryOp::Atan2, z[0], product[0]), self.asinh_of_product(below, above)];
        let y = self.magnitude_of(z[1]);
        let log = self.log_of_twice(z);
        let angle = self.binary(BinaryOp::Atan2, z[0], y);
        let is_beside_nan = self.is_zero_beside_nan(z);
        let far = [self.select(is_beside_nan, z[0], angle), self.with_sign(log, z[1])];
        let is_large = self.is_large(z);
        self.select_parts(is_large, far, near)
    }

    pub(super) fn acosh_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let (less, more) = (self.subtract(z[0], real(1.0)), self.add(z[0], real(1.0)));
        let (below, above) = (self.sqrt_complex([less, z[1]]), self.sqrt_complex([more, z[1]]));
        let (x, y) = (self.multiply(below[0], above[0]), self.multiply(below[1], above[1]));
        let sum = self.add(x, y);
        let near = [self.unary(UnaryOp::Asinh, sum), self.twice_atan2(below[1], above[0])];
        let angle = self.binary(BinaryOp::Atan2, z[1], z[0]);
        let is_beside_nan = self.is_zero_beside_nan(z);
        let quarter = self.with_sign(real(std::f64::consts::FRAC_PI_2), z[1]);
        let far = [self.log_of_twice(z), self.select(is_beside_nan, quarter, angle)];
        let is_large = self.is_large(z);
        self.select_parts(is_large, far, near)
    }

    /// `log1p(4 x / ((1 - x)^2 + y^2)) / 4` and half the angle of `(1 - x) (1 + x) - y^2 + 2 y i`, of the number with a positive real part.
    pub(super) fn atanh_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let reals = self.reals(z[0]);
        let x = self.magnitude_of(z[0]);
        let (below, above) = (self.subtract(real(1.0), x), self.add(real(1.0), x));
        let square = self.square_length([below, z[1]]);
        let numerator = self.multiply(x, real(4.0));
        let quotient = self.binary(BinaryOp::Divide, numerator, square);
        let log = self.unary(UnaryOp::LogPlusOne, quotient);
        let re = self.multiply(log, real(0.25));
        // Above 1, where the square of a small part vanishes.
        let y = self.magnitude_of(z[1]);
        let log = self.unary(UnaryOp::Log, y);
        let difference = self.subtract(real(std::f64::consts::LN_2), log);
        let above_one = self.multiply(difference, real(0.5));
        let is_one = self.equal(below, real(0.0));
        let is_small = self.less(y, real(reals.small_number));
        let is_above_one = self.and(is_one, is_small);
        let re = self.select(is_above_one, above_one, re);
        let difference = self.multiply(below, above);
        let squared = self.multiply(z[1], z[1]);
        let difference = self.subtract(difference, squared);
        let twice = self.add(z[1], z[1]);
        let angle = self.binary(BinaryOp::Atan2, twice, difference);
        let im = self.multiply(angle, real(0.5));
        let near = [self.with_sign(re, z[0]), im];
        let zero = self.with_sign(real(0.0), z[0]);
        let quarter = self.with_sign(real(std::f64::consts::FRAC_PI_2), z[1]);
        let is_nan = z.map(|part| self.is_nan(part));
        let far_im = self.select(is_nan[1], z[1], quarter);
        let (is_infinite, any_nan) = (self.any_infinite(z), self.or(is_nan[0], is_nan[1]));
        let is_finite = self.unary(UnaryOp::Not, is_infinite);
        let is_none = self.and(any_nan, is_finite);
        let far = [zero, far_im].map(|part| self.select(is_none, real(f64::NAN), part));
        let is_beside_nan = self.is_zero_beside_nan(z);
        let far = [self.select(is_beside_nan, z[0], far[0]), far[1]];
        let is_large = self.is_large(z);
        self.select_parts(is_large, far, near)
    }
}
