//! Powers of complex numbers: exponentials of products with logarithms, which are computed to twice as many places, since the exponential
//! multiplies what they are off by.

use super::sum::Sum;
use super::{Parts, real_like, reals};
use crate::kernel::{Function, FunctionId, Operand};
use crate::lower::typed::code::{Code, word};
use crate::lower::typed::helpers::function;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};
use weft_hlo::ir::{BinaryOp, ElementType, Scalar, UnaryOp};

/// What these numbers lack of what they stand for.
const LN_2_LOW: f64 = 2.319_046_813_846_299_6e-17;
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;
/// The inverse tangent of 1/2.
const ARC_OF_HALF: [f64; 2] = [4.636_476_090_008_061e-1, 2.269_877_745_296_168_7e-17];

/// The bits of the square root of 1/2, or the upper word of these.
fn upper_bits_of_least(ty: ElementType) -> u32 {
    if ty == ElementType::F64 { 0x3fe6_a09e } else { 0x3f35_04f3 }
}

impl Code {
    /// The logarithm of the length of a finite number other than zero.
    fn sum_of_log(&mut self, z: Parts, arc: FunctionId) -> Sum {
        let ty = self.type_of(z[0]);
        let (real, reals) = (real_like(ty), reals(ty));
        let integer = |value: u32| Operand::Constant(Scalar::S32(value.cast_signed()));
        let (scaled, exponent) = self.scaled(z);
        let [larger, smaller] = self.sorted(scaled);
        let squares = [larger, smaller].map(|part| self.exact_product(part, part));
        // The square of the length is 2^n s, with s about 1, so that a length near 1 is s alone.
        let square = self.add(squares[0].high, squares[1].high);
        let bits = self.upper_bits(square);
        let above = self.subtract(bits, word(upper_bits_of_least(ty)));
        let above = self.bitcast(above, ElementType::S32);
        let n = self.binary(BinaryOp::ShiftRightArithmetic, above, integer(reals.places % 32));
        let biased = self.subtract(integer(reals.bias), n);
        let biased = self.bitcast(biased, ElementType::U32);
        let scale = self.power_of_two(biased, ty);
        let [first, second] = squares.map(|square| self.scaled_sum(square, scale));
        // s - 1, where nothing that cancels is lost.
        let less = self.exact_sum(first.high, real(-1.0));
        let sum = self.exact_sum(less.high, second.high);
        let rest = self.exact_sum(first.low, second.low);
        let all = self.exact_sum(sum.high, rest.high);
        let low = self.add(less.low, sum.low);
        let low = self.add(low, rest.low);
        let low = self.add(low, all.low);
        let more = self.exact_sum(all.high, low);
        // log s = 2 artanh((s - 1) / (s + 1)), of which the logarithm of the length is half.
        let two = Sum { high: real(2.0), low: real(0.0) };
        let below = self.add_sums(two, more);
        let log = self.arc_of_quotient(arc, more, below, 1.0);
        // The exponents of both parts count once, those of the square half.
        let exponent = self.bitcast(exponent, ElementType::S32);
        let exponent = self.subtract(exponent, integer(reals.bias));
        let twice = self.add(exponent, exponent);
        let halves = self.add(twice, n);
        let halves = self.convert(halves, ty);
        let of_scale = self.times_sum(halves, Sum::constant(ty, LN_2 / 2.0, LN_2_LOW / 2.0));
        self.add_sums(of_scale, log)
    }

    /// The angle of a finite number other than zero.
    fn sum_of_angle(&mut self, z: Parts, arc: FunctionId) -> Sum {
        let ty = self.type_of(z[0]);
        let real = real_like(ty);
        let (scaled, _) = self.scaled(z);
        let [x, y] = scaled.map(|part| self.magnitude_of(part));
        let [more, less] = self.sorted(scaled);
        // From the angle of the nearest of the slopes 0, 1/2 and 1 on.
        let quarter = self.multiply(more, real(0.25));
        let most = self.multiply(more, real(0.75));
        let (is_low, is_middle) = (self.less(less, quarter), self.less(less, most));
        let slope = self.select(is_middle, real(0.5), real(1.0));
        let slope = self.select(is_low, real(0.0), slope);
        let of_middle = Sum::constant(ty, ARC_OF_HALF[0], ARC_OF_HALF[1]);
        let of_upper = Sum::constant(ty, FRAC_PI_4, PI_LOW / 4.0);
        let from = self.select_sum(is_middle, of_middle, of_upper);
        let from = self.select_sum(is_low, Sum { high: real(0.0), low: real(0.0) }, from);
        let (up, along) = (self.multiply(slope, more), self.multiply(slope, less));
        let opposite = self.unary(UnaryOp::Negate, up);
        let (above, below) = (self.exact_sum(less, opposite), self.exact_sum(more, along));
        let rest = self.arc_of_quotient(arc, above, below, -1.0);
        let angle = self.add_sums(from, rest);
        // In the other octants.
        let turned = self.negated(angle);
        let turned = self.add_sums(Sum::constant(ty, FRAC_PI_2, PI_LOW / 2.0), turned);
        let is_steep = self.less(x, y);
        let angle = self.select_sum(is_steep, turned, angle);
        let turned = self.negated(angle);
        let turned = self.add_sums(Sum::constant(ty, PI, PI_LOW), turned);
        let is_left = self.less(z[0], real(0.0));
        let angle = self.select_sum(is_left, turned, angle);
        let sign = self.with_sign(real(1.0), z[1]);
        self.scaled_sum(angle, sign)
    }

    /// The cosine and the sine of a sum whose lower part is at most 1/10; else of the upper part.
    fn turn(&mut self, angle: Sum) -> Parts {
        let real = real_like(self.type_of(angle.high));
        let [cosine, sine] = [UnaryOp::Cosine, UnaryOp::Sine].map(|op| self.unary(op, angle.high));
        let size = self.magnitude_of(angle.low);
        let is_small = self.less(size, real(0.1));
        let low = self.select(is_small, angle.low, real(0.0));
        let square = self.multiply(low, low);
        // 1 - square (1/2 - square (1/24 - square / 720)), and likewise low times the series of the sine.
        let series = |code: &mut Code, coefficients: [f64; 3]| {
            let mut sum = real(coefficients[2]);
            for coefficient in [coefficients[1], coefficients[0]] {
                let product = code.multiply(sum, square);
                sum = code.subtract(real(coefficient), product);
            }
            code.multiply(sum, square)
        };
        let (of_cosine, of_sine) =
            (series(self, [1.0 / 2.0, 1.0 / 24.0, 1.0 / 720.0]), series(self, [1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0]));
        let less = self.multiply(low, of_sine);
        let sine_of_low = self.subtract(low, less);
        // What the small angle adds: -cosine (1 - cos low) - sine sin low, and so on.
        let (first, second) = (self.multiply(cosine, of_cosine), self.multiply(sine, sine_of_low));
        let lost = self.add(first, second);
        let turned_cosine = self.subtract(cosine, lost);
        let (first, second) = (self.multiply(cosine, sine_of_low), self.multiply(sine, of_cosine));
        let gained = self.subtract(first, second);
        [turned_cosine, self.add(sine, gained)]
    }

    fn is_finite(&mut self, sum: Sum) -> Operand {
        let (high, low) = (self.unary(UnaryOp::IsFinite, sum.high), self.unary(UnaryOp::IsFinite, sum.low));
        self.and(high, low)
    }
}

/// The function of the parts of a base and an exponent that gives those of the power.
pub(in crate::lower::typed) fn power_of_complex(name: &str, ty: ElementType, arc: FunctionId) -> Function {
    let parameters = ["x", "y", "of.x", "of.y"].map(|name| (name, ty));
    function(name, parameters, |code, [x, y, a, b]| {
        let real = real_like(ty);
        let (base, exponent) = ([x, y], [a, b]);
        let (log, angle) = (code.sum_of_log(base, arc), code.sum_of_angle(base, arc));
        let [is_finite_x, is_finite_y] = base.map(|part| code.unary(UnaryOp::IsFinite, part));
        let is_finite = code.and(is_finite_x, is_finite_y);
        let [is_zero_x, is_zero_y] = base.map(|part| code.equal(part, real(0.0)));
        let is_zero = code.and(is_zero_x, is_zero_y);
        let is_other = code.unary(UnaryOp::Not, is_zero);
        let has_log = code.and(is_finite, is_other);
        // exponent (log + i angle)
        let products = [(a, log), (b, angle), (a, angle), (b, log)].map(|(part, sum)| code.times_sum(part, sum));
        let turned = code.negated(products[1]);
        let (re, im) = (code.add_sums(products[0], turned), code.add_sums(products[2], products[3]));
        let (is_finite_re, is_finite_im) = (code.is_finite(re), code.is_finite(im));
        let is_product = code.and(is_finite_re, is_finite_im);
        let is_product = code.and(is_product, has_log);

        // Where there are no such sums, as HLO has it of numbers.
        let any_infinite = code.any_infinite(base);
        let nan = code.add(x, y);
        let end = code.select(is_zero, real(f64::NEG_INFINITY), nan);
        let end = code.select(any_infinite, real(f64::INFINITY), end);
        let log = code.select(has_log, log.high, end);
        // Beside an infinite logarithm the size of the angle does not matter, but no product with it may overflow.
        let of_ends = code.binary(BinaryOp::Atan2, y, x);
        let of_ends = code.multiply(of_ends, real(0.25));
        let angle = code.select(has_log, angle.high, of_ends);
        let plain = code.product(exponent, [log, angle]);
        let [re, im] = [(re, plain[0]), (im, plain[1])].map(|(sum, plain)| {
            // Sums lose the signs of zeros.
            let (is_zero, is_plain_zero) = (code.equal(sum.high, real(0.0)), code.equal(plain, real(0.0)));
            let are_zeros = code.and(is_zero, is_plain_zero);
            let high = code.select(are_zeros, plain, sum.high);
            Sum { high: code.select(is_product, high, plain), low: code.select(is_product, sum.low, real(0.0)) }
        });
        let turn = code.turn(im);
        let more = code.add(re.low, real(1.0));
        let turn = turn.map(|part| code.multiply(part, more));
        let [re, im] = code.power_and_turn([re.high, im.high], turn);

        // Any number to the power 0 is 1, and 0 to any other that is real and positive is 0.
        let (no_re, no_im) = (code.equal(a, real(0.0)), code.equal(b, real(0.0)));
        let is_one = code.and(no_re, no_im);
        let is_positive = code.less(real(0.0), a);
        let is_positive = code.and(is_positive, no_im);
        let is_nothing = code.and(is_zero, is_positive);
        let (re, im) = (code.select(is_nothing, real(0.0), re), code.select(is_nothing, real(0.0), im));
        vec![code.select(is_one, real(1.0), re), code.select(is_one, real(0.0), im)]
    })
}
