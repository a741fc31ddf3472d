//! Complex numbers as pairs of `f32`, or of `f64`.
//!
//! Formulae follow W. Kahan, *Branch Cuts for Complex Elementary Functions* (1987). What is squared is scaled by a power of two before, so
//! that it neither overflows nor vanishes where the result does not.

mod angle;
mod inverse;
mod power;
mod quotient;
mod sum;

use super::code::{Code, real, word};
use super::pair::Pair;
use crate::kernel::Operand;
pub(super) use power::power_of_complex;
pub(super) use sum::arc;
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ElementType, Scalar, UnaryOp};

/// The real and the imaginary part.
type Parts = [Operand; 2];

/// Numbers of one of the two types.
struct Reals {
    /// Places of a significand behind the point.
    places: u32,
    /// What is added to an exponent.
    bias: u32,
    /// Beyond this the hyperbolic tangent of a real part is 1.
    tanh_is_one: f64,
    /// Beyond this 1 is nothing beside a number, nor its square root beside that of the number.
    large_number: f64,
    /// Below this the square of a number is nothing beside 1.
    small_number: f64,
    /// Beyond this exponentials are computed in two steps.
    large_exponent: f64,
    /// The divisor of the last term of a series whose terms are a sixteenth of one another, where the next one is nothing beside a
    /// number of twice as many places.
    last_of_series: u32,
}

const F32: Reals = Reals {
    places: 23,
    bias: 127,
    tanh_is_one: 11.0,
    large_number: 1e15,
    small_number: 1e-6,
    large_exponent: 80.0,
    last_of_series: 21,
};
const F64: Reals = Reals {
    places: 52,
    bias: 1023,
    tanh_is_one: 22.0,
    large_number: 1e40,
    small_number: 1e-10,
    large_exponent: 700.0,
    last_of_series: 35,
};

fn reals(ty: ElementType) -> Reals {
    if ty == ElementType::F64 { F64 } else { F32 }
}

/// What makes constants of a type.
fn real_like(ty: ElementType) -> impl Fn(f64) -> Operand {
    move |value| match ty {
        ElementType::F64 => Operand::Constant(Scalar::F64(value)),
        _ => real(value as f32),
    }
}

/// Operations on complex numbers.
impl Code {
    /// `None` for an operation that kernels do not compute.
    pub(super) fn unary_complex(&mut self, op: UnaryOp, z: Parts) -> Option<Vec<Operand>> {
        let real = real_like(self.type_of(z[0]));
        let parts = match op {
            UnaryOp::Abs => return Some(vec![self.length(z)]),
            UnaryOp::Acos => self.acos_complex(z),
            UnaryOp::Acosh => self.acosh_complex(z),
            UnaryOp::Asin => self.asin_complex(z),
            UnaryOp::Asinh => {
                // asinh(z) = -i asin(i z)
                let turned = self.unary(UnaryOp::Negate, z[1]);
                let [re, im] = self.asin_complex([turned, z[0]]);
                [im, self.unary(UnaryOp::Negate, re)]
            }
            UnaryOp::Atanh => self.atanh_complex(z),
            UnaryOp::Negate => z.map(|part| self.unary(op, part)),
            UnaryOp::Exponential => self.exp_complex(z),
            UnaryOp::ExponentialMinusOne => self.expm1_complex(z),
            UnaryOp::Log => self.log_complex(z),
            UnaryOp::LogPlusOne => self.log1p_complex(z),
            UnaryOp::Sqrt => self.sqrt_complex(z),
            UnaryOp::Rsqrt => self.rsqrt_complex(z),
            UnaryOp::Cbrt => self.cbrt_complex(z),
            UnaryOp::Sine => self.sine([z[0], z[1]], [UnaryOp::Sine, UnaryOp::Cosine], false),
            UnaryOp::Cosine => self.sine([z[0], z[1]], [UnaryOp::Cosine, UnaryOp::Sine], true),
            UnaryOp::Sinh => {
                // sinh(z) = -i sin(i z)
                let [re, im] = self.sine([z[1], z[0]], [UnaryOp::Sine, UnaryOp::Cosine], false);
                [im, re]
            }
            UnaryOp::Cosh => {
                // cosh(z) = cos(i z)
                let [re, im] = self.sine([z[1], z[0]], [UnaryOp::Cosine, UnaryOp::Sine], true);
                [re, self.unary(UnaryOp::Negate, im)]
            }
            UnaryOp::Tanh => self.tanh_complex(z),
            UnaryOp::Tan => {
                // tan(z) = -i tanh(i z)
                let turned = self.unary(UnaryOp::Negate, z[1]);
                let [re, im] = self.tanh_complex([turned, z[0]]);
                [im, self.unary(UnaryOp::Negate, re)]
            }
            UnaryOp::Logistic => self.logistic_complex(z),
            UnaryOp::Sign => {
                let (scaled, _) = self.scaled(z);
                let square = self.square_length(scaled);
                let length = self.unary(UnaryOp::Sqrt, square);
                let is_zero = self.equal(length, real(0.0));
                scaled.map(|part| {
                    let quotient = self.binary(BinaryOp::Divide, part, length);
                    self.select(is_zero, part, quotient)
                })
            }
            _ => return None,
        };
        Some(parts.to_vec())
    }

    /// `None` for an operation that kernels do not compute.
    pub(super) fn binary_complex(&mut self, op: BinaryOp, a: Parts, b: Parts) -> Option<Vec<Operand>> {
        let parts = match op {
            BinaryOp::Add | BinaryOp::Subtract => [self.binary(op, a[0], b[0]), self.binary(op, a[1], b[1])],
            BinaryOp::Multiply => self.product(a, b),
            BinaryOp::Divide => self.divide_complex(a, b),
            BinaryOp::Atan2 => self.atan2_complex(a, b),
            _ => return None,
        };
        Some(parts.to_vec())
    }

    fn product(&mut self, a: Parts, b: Parts) -> Parts {
        let (x, y) = (self.multiply(a[0], b[0]), self.multiply(a[1], b[1]));
        let (u, v) = (self.multiply(a[0], b[1]), self.multiply(a[1], b[0]));
        [self.subtract(x, y), self.add(u, v)]
    }

    fn magnitude_of(&mut self, x: Operand) -> Operand {
        self.unary(UnaryOp::Abs, x)
    }

    /// The larger magnitude of the parts, and the smaller one.
    fn sorted(&mut self, z: Parts) -> Parts {
        let (x, y) = (self.magnitude_of(z[0]), self.magnitude_of(z[1]));
        let is_less = self.less(x, y);
        [self.select(is_less, y, x), self.select(is_less, x, y)]
    }

    /// The bits of the exponent of a number's magnitude, within those whose reciprocal is normal too.
    fn exponent_bits(&mut self, magnitude: Operand) -> Operand {
        let reals = self.reals(magnitude);
        let bits = self.upper_bits(magnitude);
        let exponent = self.down(bits, word(reals.places % 32));
        let raised = self.binary(BinaryOp::Maximum, exponent, word(1));
        self.binary(BinaryOp::Minimum, raised, word(2 * reals.bias - 1))
    }

    /// The power of two with these bits of its exponent, of a type.
    fn power_of_two(&mut self, exponent: Operand, ty: ElementType) -> Operand {
        let bits = self.up(exponent, word(reals(ty).places % 32));
        match ty {
            ElementType::F64 => self.join(Pair { low: word(0), high: bits }),
            _ => self.bitcast(bits, ty),
        }
    }

    /// What is known of the type of a number.
    fn reals(&self, of: Operand) -> Reals {
        reals(self.type_of(of))
    }

    /// The word of a number's bits that has its sign and its exponent.
    fn upper_bits(&mut self, number: Operand) -> Operand {
        match self.type_of(number) {
            ElementType::F64 => self.split(number).high,
            _ => self.bitcast(number, ElementType::U32),
        }
    }

    /// The number with another word for its sign and its exponent.
    fn with_upper_bits(&mut self, number: Operand, bits: Operand) -> Operand {
        match self.type_of(number) {
            ElementType::F64 => {
                let low = self.split(number).low;
                self.join(Pair { low, high: bits })
            }
            ty => self.bitcast(bits, ty),
        }
    }

    /// The parts scaled so that the larger one is about 1, and the bits of the exponent that they had.
    fn scaled(&mut self, z: Parts) -> (Parts, Operand) {
        let [larger, _] = self.sorted(z);
        let exponent = self.exponent_bits(larger);
        let inverse = self.subtract(word(2 * self.reals(larger).bias), exponent);
        let scale = self.power_of_two(inverse, self.type_of(larger));
        (z.map(|part| self.multiply(part, scale)), exponent)
    }

    fn square_length(&mut self, z: Parts) -> Operand {
        let (x, y) = (self.multiply(z[0], z[0]), self.multiply(z[1], z[1]));
        self.add(x, y)
    }

    fn is_infinite(&mut self, x: Operand) -> Operand {
        let magnitude = self.magnitude_of(x);
        if self.type_of(x) == ElementType::F64 {
            let Pair { low, high } = self.split(magnitude);
            let (is_high, is_low) = (self.equal(high, word(0x7ff0_0000)), self.equal(low, word(0)));
            return self.and(is_high, is_low);
        }
        let bits = self.bitcast(magnitude, ElementType::U32);
        self.equal(bits, word(0x7f80_0000))
    }

    /// Whether a part is infinite.
    fn any_infinite(&mut self, z: Parts) -> Operand {
        let (x, y) = (self.is_infinite(z[0]), self.is_infinite(z[1]));
        self.or(x, y)
    }

    /// A magnitude with the sign of a number.
    fn with_sign(&mut self, magnitude: Operand, of: Operand) -> Operand {
        let bits = self.upper_bits(magnitude);
        let sign = self.upper_bits(of);
        let sign = self.and(sign, word(1 << 31));
        let signed = self.or(bits, sign);
        self.with_upper_bits(magnitude, signed)
    }

    fn length(&mut self, z: Parts) -> Operand {
        let real = real_like(self.type_of(z[0]));
        let (scaled, exponent) = self.scaled(z);
        let square = self.square_length(scaled);
        let root = self.unary(UnaryOp::Sqrt, square);
        let scale = self.power_of_two(exponent, self.type_of(root));
        let length = self.multiply(root, scale);
        let is_infinite = self.any_infinite(z);
        self.select(is_infinite, real(f64::INFINITY), length)
    }

    fn exp_complex(&mut self, z: Parts) -> Parts {
        let turn = [UnaryOp::Cosine, UnaryOp::Sine].map(|op| self.unary(op, z[1]));
        self.power_and_turn(z, turn)
    }

    /// The exponential of a number, of whose imaginary part the cosine and the sine are given.
    fn power_and_turn(&mut self, z: Parts, [cosine, sine]: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let reals = self.reals(z[0]);
        let is_large = self.compare(ComparisonDirection::Gt, z[0], real(reals.large_exponent));
        let half = self.multiply(z[0], real(0.5));
        let exponent = self.select(is_large, half, z[0]);
        let power = self.unary(UnaryOp::Exponential, exponent);
        let again = self.select(is_large, power, real(1.0));
        let is_real = self.equal(z[1], real(0.0));
        let is_zero = self.equal(z[0], real(f64::NEG_INFINITY));
        let cosine = self.or_one(cosine, z[0], z[1]);
        let [re, im] = [cosine, sine].map(|factor| {
            let product = self.multiply(power, factor);
            let product = self.multiply(product, again);
            self.select(is_zero, real(0.0), product)
        });
        [re, self.select(is_real, z[1], im)]
    }

    fn select_parts(&mut self, condition: Operand, a: Parts, b: Parts) -> Parts {
        [self.select(condition, a[0], b[0]), self.select(condition, a[1], b[1])]
    }

    fn is_nan(&mut self, x: Operand) -> Operand {
        self.compare(ComparisonDirection::Ne, x, x)
    }

    /// Whether a number is infinite or NaN.
    fn is_not_finite(&mut self, x: Operand) -> Operand {
        let is_finite = self.unary(UnaryOp::IsFinite, x);
        self.unary(UnaryOp::Not, is_finite)
    }

    /// The cosine of an angle; 1 where the angle has none and a number is infinite by which the cosine is multiplied.
    fn or_one(&mut self, cosine: Operand, number: Operand, angle: Operand) -> Operand {
        let real = real_like(self.type_of(cosine));
        let has_none = self.is_not_finite(angle);
        let is_infinite = self.is_infinite(number);
        let is_replaced = self.and(has_none, is_infinite);
        self.select(is_replaced, real(1.0), cosine)
    }

    fn expm1_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let reals = self.reals(z[0]);
        // (e^x - 1) cos y - 2 sin^2(y / 2)
        let power = self.unary(UnaryOp::ExponentialMinusOne, z[0]);
        let half = self.multiply(z[1], real(0.5));
        let sine = self.unary(UnaryOp::Sine, half);
        let square = self.multiply(sine, sine);
        let twice = self.multiply(square, real(2.0));
        let cosine = self.unary(UnaryOp::Cosine, z[1]);
        let product = self.multiply(power, cosine);
        let re = self.subtract(product, twice);
        // Beside a large power 1 is nothing.
        let [of_power, im] = self.exp_complex(z);
        let is_large = self.compare(ComparisonDirection::Gt, z[0], real(reals.large_exponent));
        let re = self.select(is_large, of_power, re);
        let is_left = self.equal(z[0], real(f64::NEG_INFINITY));
        let re = self.select(is_left, real(-1.0), re);
        let is_real = self.equal(z[1], real(0.0));
        [self.select(is_real, power, re), im]
    }

    /// The logarithm of the length.
    fn log_of_length(&mut self, z: Parts) -> Operand {
        let real = real_like(self.type_of(z[0]));
        let reals = self.reals(z[0]);
        let [larger, smaller] = self.sorted(z);
        // Near 1 from what the square of the length differs by from 1.
        let (below, above) = (self.subtract(larger, real(1.0)), self.add(larger, real(1.0)));
        let difference = self.multiply(below, above);
        let square = self.multiply(smaller, smaller);
        let difference = self.add(difference, square);
        let near = self.unary(UnaryOp::LogPlusOne, difference);
        let (scaled, exponent) = self.scaled(z);
        let square = self.square_length(scaled);
        let far = self.unary(UnaryOp::Log, square);
        let is_near = {
            let from = self.subtract(exponent, word(reals.bias - 1));
            self.less(from, word(2))
        };
        let chosen = self.select(is_near, near, far);
        let half = self.multiply(chosen, real(0.5));
        let exponent = self.bitcast(exponent, ElementType::S32);
        let exponent = self.subtract(exponent, Operand::Constant(Scalar::S32(reals.bias.cast_signed())));
        let exponent = self.convert(exponent, self.type_of(half));
        let scale = self.multiply(exponent, real(std::f64::consts::LN_2));
        let sum = self.add(half, scale);
        let log = self.select(is_near, half, sum);
        let is_infinite = self.any_infinite(z);
        self.select(is_infinite, real(f64::INFINITY), log)
    }

    fn log_complex(&mut self, z: Parts) -> Parts {
        [self.log_of_length(z), self.binary(BinaryOp::Atan2, z[1], z[0])]
    }

    fn log1p_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let next = self.add(z[0], real(1.0));
        let far = self.log_of_length([next, z[1]]);
        let twice = self.add(z[0], real(2.0));
        let product = self.multiply(z[0], twice);
        let square = self.multiply(z[1], z[1]);
        let difference = self.add(product, square);
        let near = self.unary(UnaryOp::LogPlusOne, difference);
        let near = self.multiply(near, real(0.5));
        let [larger, _] = self.sorted(z);
        let is_near = self.less(larger, real(0.5));
        [self.select(is_near, near, far), self.binary(BinaryOp::Atan2, z[1], next)]
    }

    /// The root, scaled by a power of two with these bits of its exponent; and the length of the number, scaled by its square.
    fn scaled_root(&mut self, z: Parts) -> (Parts, Operand, Operand) {
        let real = real_like(self.type_of(z[0]));
        let reals = self.reals(z[0]);
        let [larger, _] = self.sorted(z);
        let exponent = self.exponent_bits(larger);
        let exponent = self.bitcast(exponent, ElementType::S32);
        let exponent = self.subtract(exponent, Operand::Constant(Scalar::S32(reals.bias.cast_signed())));
        let one = Operand::Constant(Scalar::S32(1));
        let half = self.binary(BinaryOp::ShiftRightArithmetic, exponent, one);
        let half = self.bitcast(half, ElementType::U32);
        let even = self.add(half, half);
        let inverse = self.subtract(word(reals.bias), even);
        let scale = self.power_of_two(inverse, self.type_of(larger));
        let scaled = z.map(|part| self.multiply(part, scale));
        let square = self.square_length(scaled);
        let length = self.unary(UnaryOp::Sqrt, square);
        let x = self.magnitude_of(scaled[0]);
        let sum = self.add(x, length);
        let mean = self.multiply(sum, real(0.5));
        let root = self.unary(UnaryOp::Sqrt, mean);
        let y = self.magnitude_of(scaled[1]);
        let twice = self.multiply(root, real(2.0));
        let other = self.binary(BinaryOp::Divide, y, twice);
        let (x, y) = (self.equal(z[0], real(0.0)), self.equal(z[1], real(0.0)));
        let is_zero = self.and(x, y);
        let other = self.select(is_zero, real(0.0), other);
        let is_right = self.compare(ComparisonDirection::Ge, z[0], real(0.0));
        let re = self.select(is_right, root, other);
        let im = self.select(is_right, other, root);
        let im = self.with_sign(im, z[1]);
        ([re, im], self.add(half, word(reals.bias)), length)
    }

    fn sqrt_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let (root, exponent, _) = self.scaled_root(z);
        let scale = self.power_of_two(exponent, self.type_of(z[0]));
        let [re, im] = root.map(|part| self.multiply(part, scale));
        // A real part that is infinite leaves one part of the root 0, unless the other part is infinite too, which makes the
        // real part of the root so.
        let infinity = real(f64::INFINITY);
        let signed_infinity = self.with_sign(infinity, z[1]);
        let zero = self.multiply(z[1], real(0.0));
        let signed_zero = self.with_sign(real(0.0), z[1]);
        let is_nan = self.is_nan(z[1]);
        let zero_or_nan = self.select(is_nan, zero, signed_zero);
        let magnitude = self.magnitude_of(zero_or_nan);
        let is_right = self.equal(z[0], infinity);
        let is_left = self.equal(z[0], real(f64::NEG_INFINITY));
        let re = self.select(is_right, infinity, re);
        let im = self.select(is_right, zero_or_nan, im);
        let re = self.select(is_left, magnitude, re);
        let im = self.select(is_left, signed_infinity, im);
        let is_infinite = self.is_infinite(z[1]);
        [self.select(is_infinite, infinity, re), self.select(is_infinite, z[1], im)]
    }

    fn rsqrt_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let (root, exponent, length) = self.scaled_root(z);
        let inverse = self.subtract(word(2 * self.reals(length).bias), exponent);
        let scale = self.power_of_two(inverse, self.type_of(length));
        let [re, im] = root.map(|part| {
            let quotient = self.binary(BinaryOp::Divide, part, length);
            self.multiply(quotient, scale)
        });
        let turned = self.unary(UnaryOp::Negate, im);
        let is_infinite = self.any_infinite(z);
        [re, turned].map(|part| self.select(is_infinite, real(f64::NAN), part))
    }

    fn cbrt_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        // An eighth of it is as long as a number can be.
        let eighth = z.map(|part| self.multiply(part, real(0.125)));
        let [larger, _] = self.sorted(z);
        let is_large = self.compare(ComparisonDirection::Gt, larger, real(1.0));
        let chosen = [self.select(is_large, eighth[0], z[0]), self.select(is_large, eighth[1], z[1])];
        let length = self.length(chosen);
        let root = self.unary(UnaryOp::Cbrt, length);
        let twice = self.multiply(root, real(2.0));
        let root = self.select(is_large, twice, root);
        let angle = self.binary(BinaryOp::Atan2, z[1], z[0]);
        let third = self.binary(BinaryOp::Divide, angle, real(3.0));
        let [re, im] = [UnaryOp::Cosine, UnaryOp::Sine].map(|op| {
            let factor = self.unary(op, third);
            self.multiply(root, factor)
        });
        // Also of an infinity.
        let (has_no_angle, is_real) = (self.equal(angle, real(0.0)), self.equal(z[1], real(0.0)));
        let is_positive = self.and(has_no_angle, is_real);
        [re, self.select(is_positive, z[1], im)]
    }

    /// `f(x) cosh(y)` and `g(x) sinh(y)`, of which the second is turned if that is asked for: sine and cosine of a complex number.
    fn sine(&mut self, z: Parts, functions: [UnaryOp; 2], turned: bool) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let reals = self.reals(z[0]);
        let (cosh, sinh) = (self.unary(UnaryOp::Cosh, z[1]), self.unary(UnaryOp::Sinh, z[1]));
        // Far out both are half of an exponential, which is computed in two steps that do not overflow where the product does not.
        let magnitude = self.magnitude_of(z[1]);
        let is_large = self.compare(ComparisonDirection::Gt, magnitude, real(reals.large_exponent));
        let half = self.multiply(magnitude, real(0.5));
        let power = self.unary(UnaryOp::Exponential, half);
        let half = self.multiply(power, real(0.5));
        let signed_half = self.with_sign(half, z[1]);
        let again = self.select(is_large, power, real(1.0));
        let hyperbolic = [self.select(is_large, half, cosh), self.select(is_large, signed_half, sinh)];
        let one = self.with_sign(real(1.0), z[1]);
        let has_no_angle = self.equal(z[0], real(0.0));
        let has_none = self.is_not_finite(z[0]);
        let is_real = self.equal(z[1], real(0.0));
        let is_itself = self.and(has_none, is_real);
        let [re, im] = [(0, real(1.0)), (1, one)].map(|(which, sign)| {
            let factor = self.unary(functions[which], z[0]);
            let is_sine = functions[which] == UnaryOp::Sine;
            let factor = if is_sine { factor } else { self.or_one(factor, z[1], z[0]) };
            let product = self.multiply(factor, hyperbolic[which]);
            let product = self.multiply(product, again);
            // A zero of one factor stays, whatever the other one is: of the sine, and of the hyperbolic one.
            let zero = self.multiply(z[0], sign);
            let product = if is_sine { self.select(has_no_angle, zero, product) } else { product };
            if which == 1 { self.select(is_itself, z[1], product) } else { product }
        });
        [re, if turned { self.unary(UnaryOp::Negate, im) } else { im }]
    }

    fn tanh_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        let reals = self.reals(z[0]);
        let tangent = self.unary(UnaryOp::Tan, z[1]);
        let square = self.multiply(tangent, tangent);
        let beta = self.add(square, real(1.0));
        let sinh = self.unary(UnaryOp::Sinh, z[0]);
        let cosh = self.unary(UnaryOp::Cosh, z[0]);
        let squared = self.multiply(sinh, sinh);
        let product = self.multiply(beta, squared);
        let divisor = self.add(product, real(1.0));
        let numerator = self.multiply(beta, cosh);
        let numerator = self.multiply(numerator, sinh);
        let re = self.binary(BinaryOp::Divide, numerator, divisor);
        let im = self.binary(BinaryOp::Divide, tangent, divisor);
        // Far out the real part is 1, and the imaginary part what is left of 4 sin(y) cos(y) e^(-2 |x|).
        let magnitude = self.magnitude_of(z[0]);
        let is_far = self.compare(ComparisonDirection::Gt, magnitude, real(reals.tanh_is_one));
        let one = self.with_sign(real(1.0), z[0]);
        let exponent = self.multiply(magnitude, real(-2.0));
        let power = self.unary(UnaryOp::Exponential, exponent);
        let (sine, cosine) = (self.unary(UnaryOp::Sine, z[1]), self.unary(UnaryOp::Cosine, z[1]));
        let turn = self.multiply(sine, cosine);
        let turn = self.multiply(turn, real(4.0));
        let rest = self.multiply(turn, power);
        let is_infinite = self.is_infinite(z[0]);
        let zero = self.with_sign(real(0.0), turn);
        let rest = self.select(is_infinite, zero, rest);
        // An angle that is none leaves only the ends.
        let has_none = self.is_not_finite(z[1]);
        let far = self.select(has_none, real(f64::NAN), one);
        let far = self.select(is_infinite, one, far);
        let (re, im) = (self.select(is_far, far, re), self.select(is_far, rest, im));
        let (x, y) = (self.equal(z[0], real(0.0)), self.equal(z[1], real(0.0)));
        [self.select(x, z[0], re), self.select(y, z[1], im)]
    }

    fn logistic_complex(&mut self, z: Parts) -> Parts {
        let real = real_like(self.type_of(z[0]));
        // By the exponential that does not overflow.
        let is_left = self.less(z[0], real(0.0));
        let turned = z.map(|part| self.unary(UnaryOp::Negate, part));
        let argument = [self.select(is_left, z[0], turned[0]), self.select(is_left, z[1], turned[1])];
        let power = self.exp_complex(argument);
        let next = self.add(power[0], real(1.0));
        // Near a pole as 2 cos^2(y / 2) + (e^-|x| - 1) cos y, where nothing cancels.
        let half = self.multiply(z[1], real(0.5));
        let cosine = self.unary(UnaryOp::Cosine, half);
        let square = self.multiply(cosine, cosine);
        let twice = self.multiply(square, real(2.0));
        let less_one = self.unary(UnaryOp::ExponentialMinusOne, argument[0]);
        let cosine = self.unary(UnaryOp::Cosine, z[1]);
        let product = self.multiply(less_one, cosine);
        let near = self.add(twice, product);
        let is_near = self.less(power[0], real(-0.5));
        let divisor = [self.select(is_near, near, next), power[1]];
        let numerator = [self.select(is_left, power[0], real(1.0)), self.select(is_left, power[1], real(0.0))];
        self.quotient(numerator, divisor)
    }
}
