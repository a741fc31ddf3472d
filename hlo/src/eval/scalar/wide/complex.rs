//! Functions of complex numbers, with the cases of C's Annex G where parts are zeros, infinities or NaNs.
//!
//! Each part is computed in [pairs](super::pair::Pair) and rounded once. Formulae are such that nothing cancels that a pair does not have
//! the bits for (Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit", 1987).

use super::circular::{PI, Turn, angle_of, atan2, precise_angle_of};
use super::exponential::{
    Power, TINY, cosh as real_cosh, exp as real_exp, exp_m1 as real_exp_m1, scaled, sinh as real_sinh,
    tanh as real_tanh, two_to,
};
use super::logarithm::{Ratio, asinh_of};
use super::pair::Pair;
use super::power::{Scaled, hypot};
use num_complex::{Complex, Complex64};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

const ONE: Complex64 = Complex::new(1.0, 0.0);

/// A complex number in pairs.
#[derive(Copy, Clone)]
struct Point {
    re: Pair,
    im: Pair,
}

impl Point {
    /// `1 / self`, times a real number.
    fn inverse(self, times: Pair) -> Point {
        let square = self.re.square() + self.im.square();
        Point { re: times * self.re / square, im: -(times * self.im / square) }
    }

    fn times(self, other: Point) -> Point {
        Point { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    /// The square root with a real part that is not negative, of a number of moderate size.
    fn sqrt(self) -> Point {
        let most = if self.re.high.abs() < self.im.high.abs() { self.im.high.abs() } else { self.re.high.abs() };
        if most > 0.0 && most < 1e-100 {
            // Squares would vanish.
            let root = Point { re: self.re.times(two_to(600.0)), im: self.im.times(two_to(600.0)) }.sqrt();
            return Point { re: root.re.times(two_to(-300.0)), im: root.im.times(two_to(-300.0)) };
        }
        let length = (self.re.square() + self.im.square()).sqrt();
        let longer = ((self.re.abs() + length).times(0.5)).sqrt();
        if longer.high == 0.0 {
            return self;
        }
        let shorter = self.im / longer.times(2.0);
        if self.re.high >= 0.0 {
            return Point { re: longer, im: shorter };
        }
        let is_below = self.im.high.is_sign_negative();
        Point { re: shorter.abs(), im: if is_below { -longer } else { longer } }
    }
}

/// `e^z = e^x (cos y + i sin y)`.
pub(in crate::eval) fn exp(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if y == 0.0 {
        return Complex::new(real_exp(x), y);
    }
    if !y.is_finite() && x.abs() == f64::INFINITY {
        return if x < 0.0 { Complex::new(0.0, 0f64.copysign(y)) } else { Complex::new(x, f64::NAN) };
    }
    let (power, turn) = (Power::of(Pair::of(x)), Turn::of(y));
    let times = |factor: Pair| product(power.factor(), factor, power.exponent);
    Complex::new(times(turn.cosine()), times(turn.sine()))
}

/// `e^z - 1`.
pub(in crate::eval) fn exp_m1(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if y == 0.0 {
        return Complex::new(real_exp_m1(x), y);
    }
    let value = exp(z);
    // Where the 1 is lost, even in a pair.
    if x.is_nan() || x > 100.0 || !y.is_finite() {
        return value - ONE;
    }
    // (e^x - 1) cos y - 2 sin^2(y / 2)
    let half = Turn::of(y / 2.0).sine();
    let real = Power::of(Pair::of(x)).less_one() * Turn::of(y).cosine() - half.square().times(2.0);
    Complex::new(real.value(), value.im)
}

/// `1 / (1 + e^-z)`.
pub(in crate::eval) fn logistic(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if !x.is_finite() || !y.is_finite() || x < -80.0 {
        return if x < -80.0 { exp(z) } else { ONE / (ONE + exp(-z)) };
    }
    // 1 / (1 + e^-z) or e^z / (1 + e^z), whichever power is the smaller.
    let turn = Turn::of(if x < 0.0 { y } else { -y });
    let size = Power::of(Pair::of(-x.abs())).less_one() + 1.0;
    let power = Point { re: size * turn.cosine(), im: size * turn.sine() };
    let inverse = Point { re: power.re + 1.0, im: power.im }.inverse(Pair::ONE);
    let value = if x < 0.0 { power.times(inverse) } else { inverse };
    Complex::new(value.re.value(), if y == 0.0 { y } else { value.im.value() })
}

/// The hyperbolic sine and cosine of a number that is no NaN, both to be multiplied by 2^exponent.
fn hyperbolic(x: f64) -> (Pair, Pair, f64) {
    let power = Power::of(Pair::of(x.abs()));
    let signed = |value: Pair| if x.is_sign_negative() { -value } else { value };
    if x.abs() > 40.0 {
        return (signed(power.factor()), power.factor(), power.exponent - 1.0);
    }
    let less_one = power.less_one();
    let value = less_one + 1.0;
    (signed((less_one + less_one / value).times(0.5)), (value + Pair::ONE / value).times(0.5), 0.0)
}

/// An exponent that none of the arguments has that powers tell apart.
const BEYOND: f64 = 2015.0;

/// `2^exponent a b`, with its sign even where it is zero, which pairs lose.
fn product(a: Pair, b: Pair, exponent: f64) -> f64 {
    if exponent > BEYOND {
        return f64::INFINITY * a.high * b.high;
    }
    let value = scaled(a * b, exponent);
    if value == 0.0 { 0f64.copysign(a.high) * 1f64.copysign(b.high) } else { value }
}

/// A number that may be 0, or have less bits than others, times a factor that is not large.
fn tiny_times(x: f64, factor: Pair) -> f64 {
    product(Pair::of(x * two_to(600.0)), factor, -600.0)
}

/// `sinh x cos y + i cosh x sin y`.
pub(in crate::eval) fn sinh(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if y == 0.0 {
        return Complex::new(real_sinh(x), y);
    }
    if !y.is_finite() && (x == 0.0 || x.abs() == f64::INFINITY) {
        return Complex::new(x, f64::NAN);
    }
    let ((sine, cosine, exponent), turn) = (hyperbolic(x), Turn::of(y));
    let real = if x.abs() < TINY { tiny_times(x, turn.cosine()) } else { product(sine, turn.cosine(), exponent) };
    Complex::new(real, product(cosine, turn.sine(), exponent))
}

/// `cosh x cos y + i sinh x sin y`.
pub(in crate::eval) fn cosh(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if y == 0.0 {
        return Complex::new(real_cosh(x), if x.is_nan() { y } else { y * 1f64.copysign(x) });
    }
    if !y.is_finite() && (x == 0.0 || x.abs() == f64::INFINITY) {
        return if x == 0.0 { Complex::new(f64::NAN, x) } else { Complex::new(f64::INFINITY, f64::NAN) };
    }
    let ((sine, cosine, exponent), turn) = (hyperbolic(x), Turn::of(y));
    let imaginary = if x.abs() < TINY { tiny_times(x, turn.sine()) } else { product(sine, turn.sine(), exponent) };
    Complex::new(product(cosine, turn.cosine(), exponent), imaginary)
}

/// `(sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)`.
pub(in crate::eval) fn tanh(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if y == 0.0 {
        return Complex::new(real_tanh(x), y);
    }
    if !y.is_finite() {
        return match x {
            x if x.abs() == f64::INFINITY => Complex::new(1f64.copysign(x), 0f64.copysign(y)),
            x if x == 0.0 => Complex::new(x, f64::NAN),
            _ => Complex::new(f64::NAN, f64::NAN),
        };
    }
    let turn = Turn::of(y);
    let (sine, cosine) = (turn.sine(), turn.cosine());
    if x.abs() > 40.0 {
        let power = Power::of(Pair::of(-2.0 * x.abs()));
        let rest = scaled(power.factor() * sine * cosine, power.exponent + 2.0);
        return Complex::new(1f64.copysign(x), rest);
    }
    let (hyperbolic_sine, hyperbolic_cosine, _) = hyperbolic(x);
    let below = hyperbolic_sine.square() + cosine.square();
    let parts = [hyperbolic_sine * hyperbolic_cosine, sine * cosine].map(|part| (part / below).value());
    let real = if x.abs() < TINY { tiny_times(x, Pair::ONE / cosine.square()) } else { parts[0] };
    Complex::new(real, parts[1])
}

/// `f(iz) / i`, by which a function of angles is had from the hyperbolic one.
fn turned(z: Complex64, f: impl Fn(Complex64) -> Complex64) -> Complex64 {
    let value = f(Complex::new(-z.im, z.re));
    Complex::new(value.im, -value.re)
}

pub(in crate::eval) fn sin(z: Complex64) -> Complex64 {
    turned(z, sinh)
}

pub(in crate::eval) fn cos(z: Complex64) -> Complex64 {
    cosh(Complex::new(-z.im, z.re))
}

pub(in crate::eval) fn tan(z: Complex64) -> Complex64 {
    turned(z, tanh)
}

/// The logarithm of the length of a finite number that is not zero.
fn ln_of_length(z: Complex64) -> Pair {
    let point = Scaled::of(z.re, z.im);
    Ratio::of(point.square(), 2.0 * point.exponent).ln().times(0.5)
}

fn is_finite(z: Complex64) -> bool {
    z.re.is_finite() && z.im.is_finite()
}

/// The logarithm whose imaginary part is at most pi in size.
pub(in crate::eval) fn ln(z: Complex64) -> Complex64 {
    let length = match z {
        z if !is_finite(z) => hypot(z.re, z.im),
        z if z.re == 0.0 && z.im == 0.0 => f64::NEG_INFINITY,
        z => ln_of_length(z).value(),
    };
    Complex::new(length, atan2(z.im, z.re))
}

/// The logarithm of 1 + z.
pub(in crate::eval) fn ln_1p(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if !is_finite(z) || x.abs() > 1e30 || y.abs() > 1e30 || (x == -1.0 && y.abs() < 1e-100) {
        return ln(Complex::new(1.0 + x, y));
    }
    // |1 + z|^2 - 1 = 2x + x^2 + y^2
    let more = Pair::product(x, x) + Pair::product(y, y) + 2.0 * x;
    let next = Pair::sum(1.0, x);
    let ratio = if more.high.abs() < 0.25 {
        Ratio::of_one_plus(more)
    } else {
        Ratio::of(next.square() + Pair::product(y, y), 0.0)
    };
    let angle = angle_of(Pair::of(y), next).value();
    Complex::new(ratio.ln().value() * 0.5, angle)
}

/// Of the square root of a finite number that is not zero the longer part, to be multiplied by 2^exponent, the shorter one, to be
/// divided by that, and the exponent. What is small next to the other is not scaled as that is, or it would be lost.
fn root(z: Complex64) -> (Pair, Pair, f64) {
    let point = Scaled::of(z.re, z.im);
    let longer = ((Pair::of(point.x.abs()) + point.square().sqrt()).times(0.5)).sqrt();
    let twice = longer.times(2.0);
    let shorter = match z.im.abs() {
        // Too large for a pair.
        most if most > 1e140 => (Pair::of(point.y.abs()) / twice).times(two_to(point.exponent)),
        size => Pair::of(size) / twice,
    };
    (longer, shorter, 0.5 * point.exponent)
}

/// The square root with a real part that is not negative.
pub(in crate::eval) fn sqrt(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if y.abs() == f64::INFINITY {
        return Complex::new(f64::INFINITY, y);
    }
    if x.abs() == f64::INFINITY {
        let other = if y.is_nan() { y } else { 0.0 };
        return if x > 0.0 {
            Complex::new(x, other.copysign(y))
        } else {
            Complex::new(other.abs(), f64::INFINITY.copysign(y))
        };
    }
    if x == 0.0 && y == 0.0 {
        return Complex::new(0.0, y);
    }
    let (longer, shorter, exponent) = root(z);
    let (longer, shorter) = (scaled(longer, exponent), scaled(shorter, -exponent));
    if x >= 0.0 { Complex::new(longer, shorter.copysign(y)) } else { Complex::new(shorter, longer.copysign(y)) }
}

/// `1 / sqrt(z)`.
pub(in crate::eval) fn rsqrt(z: Complex64) -> Complex64 {
    if !is_finite(z) || (z.re == 0.0 && z.im == 0.0) {
        return ONE / sqrt(z);
    }
    // The conjugate of the root, divided by |z|.
    let (longer, shorter, exponent) = root(z);
    let length = Scaled::of(z.re, z.im).square().sqrt();
    let (longer, shorter) = (scaled(longer / length, -exponent), scaled(shorter / length, -3.0 * exponent));
    if z.re >= 0.0 {
        Complex::new(longer, shorter.copysign(-z.im))
    } else {
        Complex::new(shorter, longer.copysign(-z.im))
    }
}

/// `a / b`. Where neither part has a number: `a / 0` is infinite, as is an infinity over a finite number, and a finite number over an infinity is 0, as annex G of C99 says, which XLA follows.
pub(in crate::eval) fn div(a: Complex64, b: Complex64) -> Complex64 {
    let quotient = quotient(a, b);
    if !(quotient.re.is_nan() && quotient.im.is_nan()) {
        return quotient;
    }
    if b.re == 0.0 && b.im == 0.0 {
        let infinity = f64::INFINITY.copysign(b.re);
        return Complex::new(infinity * a.re, infinity * a.im);
    }
    let is_infinite = |z: Complex64| z.re.is_infinite() || z.im.is_infinite();
    // Beside an infinity other parts are 0, of which only the signs matter.
    let direction = |z: Complex64| {
        let part = |part: f64| f64::from(u8::from(part.is_infinite())).copysign(part);
        Complex::new(part(z.re), part(z.im))
    };
    let (product, end) = match () {
        () if is_infinite(a) && is_finite(b) => (direction(a) * b.conj(), f64::INFINITY),
        () if is_infinite(b) && is_finite(a) => (a * direction(b).conj(), 0.0),
        () => return quotient,
    };
    Complex::new(product.re * end, product.im * end)
}

/// The quotient of `a` times the conjugate of `b` and the square of `b`'s length, which is kept from being too large or too small.
fn quotient(a: Complex64, b: Complex64) -> Complex64 {
    let is_zero = b.re == 0.0 && b.im == 0.0;
    if is_zero || !is_finite(b) || a.is_nan() {
        return a / b;
    }
    if !is_finite(a) {
        // Beside an infinity only the signs of other numbers matter.
        let sign = |part: f64| if part.is_finite() && part != 0.0 { 1f64.copysign(part) } else { part };
        return Complex::new(sign(a.re), sign(a.im)) * Complex::new(sign(b.re), -sign(b.im));
    }
    let (above, below) = (Scaled::of(a.re, a.im), Scaled::of(b.re, b.im));
    let quotient = Complex::new(above.x, above.y) / Complex::new(below.x, below.y);
    let half = two_to(0.5 * (above.exponent - below.exponent));
    quotient * half * half
}

/// The number of length 1 in the same direction; zero for zero.
pub(in crate::eval) fn sign(z: Complex64) -> Complex64 {
    if !is_finite(z) || (z.re == 0.0 && z.im == 0.0) {
        let length = hypot(z.re, z.im);
        return if length == 0.0 { z } else { z / length };
    }
    let point = Scaled::of(z.re, z.im);
    let length = point.square().sqrt();
    Complex::new((Pair::of(point.x) / length).value(), (Pair::of(point.y) / length).value())
}

/// The cube root with the angle that is a third of z's.
pub(in crate::eval) fn cbrt(z: Complex64) -> Complex64 {
    if z.im == 0.0 && z.re.is_sign_positive() && !z.re.is_nan() {
        return Complex::new(libm::cbrt(z.re), z.im);
    }
    let third = Pair::quotient(1.0, 3.0);
    let angle = angle_of(Pair::of(z.im), Pair::of(z.re)) * third;
    let turn = Turn::of_pair(angle);
    if !is_finite(z) || (z.re == 0.0 && z.im == 0.0) {
        let length = hypot(z.re, z.im);
        return Complex::new(length * turn.cosine().value(), length * turn.sine().value());
    }
    let power = Power::of(ln_of_length(z) * third);
    let times = |factor: Pair| product(power.factor(), factor, power.exponent);
    Complex::new(times(turn.cosine()), times(turn.sine()))
}

/// `e^(exponent ln base)`. `0^0` is 1, other powers of zero with a positive real exponent 0.
pub(in crate::eval) fn pow(base: Complex64, exponent: Complex64) -> Complex64 {
    let is_zero = |z: Complex64| z.re == 0.0 && z.im == 0.0;
    match (is_zero(base), is_zero(exponent)) {
        (_, true) => return ONE,
        (true, false) if exponent.re > 0.0 && exponent.im == 0.0 => return Complex::default(),
        _ => {}
    }
    let is_moderate = |part: f64| part.abs() < 1e200;
    if is_zero(base) || !is_finite(base) {
        // Beside an infinite logarithm the size of the angle does not matter, but no product with it may overflow.
        let Complex { re, im } = ln(base);
        return exp(exponent * Complex::new(re, im * 0.25));
    }
    if !is_moderate(exponent.re) || !is_moderate(exponent.im) {
        return exp(exponent * ln(base));
    }
    let logarithm = Point { re: ln_of_length(base), im: precise_angle_of(Pair::of(base.im), Pair::of(base.re)) };
    let power = Point { re: Pair::of(exponent.re), im: Pair::of(exponent.im) }.times(logarithm);
    let (angle, turn) = (power.im.high, Turn::of_pair(power.im));
    let power = Power::of(power.re);
    let times = |factor: Pair| product(power.factor(), factor, power.exponent);
    Complex::new(times(turn.cosine()), if angle == 0.0 { angle } else { times(turn.sine()) })
}

/// `-i ln((x + iy) / sqrt(x^2 + y^2))`.
///
/// With `u = x + iy` and `v = x - iy` it is half the difference of their angles, on the branch of the root of their product, and `i / 4`
/// times the logarithm of the ratio of the squares of their lengths. On the cut, where the quotient is a negative number, it has the sign
/// of y.
pub(in crate::eval) fn atan2_of(y: Complex64, x: Complex64) -> Complex64 {
    let i = Complex64::i();
    // A power of two in both does not matter, but to squares.
    let most = [y.re, y.im, x.re, x.im].into_iter().fold(0f64, |most, part| most.max(part.abs()));
    let exponent = (most.to_bits() >> 52) as f64 - 1023.0;
    let scale = if most.is_finite() { two_to((-exponent).max(-1022.0)) } else { 1.0 };
    let (y, x) = (y * scale, x * scale);
    let square = x * x + y * y;
    let u = Point { re: Pair::sum(x.re, -y.im), im: Pair::sum(x.im, y.re) };
    let v = Point { re: Pair::sum(x.re, y.im), im: Pair::sum(x.im, -y.re) };
    let [of_u, of_v] = [u, v].map(|point| point.re.square() + point.im.square());
    let least = Pair::either(of_u.high < of_v.high, of_u, of_v);
    if !most.is_finite() || least.high.is_nan() || least.high <= 1e-250 {
        // At a pole, or of no numbers.
        return -i * ln((x + i * y) / sqrt(square));
    }
    // |u|^2 - |v|^2 is four times this.
    let turned = Pair::product(x.im, y.re) - Pair::product(x.re, y.im);
    let ratio = Ratio::of_one_plus(turned.abs().times(4.0) / least);
    let log = if turned.high.abs() < TINY * least.high { turned.abs() / least } else { ratio.ln().times(0.25) };
    let im = -log.value().copysign(turned.high);

    // The angle, but for half a turn: where y is small, of u times the conjugate of v.
    let along = Pair::product(x.re, y.re) + Pair::product(x.im, y.im);
    let [of_x, of_y] = [x, y].map(|z| Pair::product(z.re, z.re) + Pair::product(z.im, z.im));
    let is_near = of_y.high * 4.0 < of_x.high;
    let angle =
        if is_near { angle_of(along.times(2.0), of_x - of_y) } else { angle_of(u.im, u.re) - angle_of(v.im, v.re) };
    let half = angle.times(0.5);
    let half = if half.high > FRAC_PI_2 { half - PI } else { half };
    let half = if half.high < -FRAC_PI_2 { half + PI } else { half };

    // Whether it is half a turn is seen from the larger part of the quotient.
    let below = Pair::product(x.re, x.im) + Pair::product(y.re, y.im);
    let below = if below.high == 0.0 { Pair::of(0f64.copysign(square.im)) } else { below.times(2.0) };
    let size = Pair::product(x.re, x.re) - Pair::product(x.im, x.im);
    let root = Point { re: size + Pair::product(y.re, y.re) - Pair::product(y.im, y.im), im: below }.sqrt();
    let is_turned = if half.high.abs() < FRAC_PI_4 {
        (u.re * root.re + u.im * root.im).high < 0.0
    } else {
        ((u.im * root.re - u.re * root.im).high < 0.0) != (half.high < 0.0)
    };
    let re = match is_turned {
        false => half,
        true if half.high == 0.0 => Pair::of(std::f64::consts::PI.copysign(y.re)),
        true if half.high < 0.0 => half + PI,
        true => half - PI,
    };
    Complex::new(re.value(), im)
}

/// What is so large that 1 next to its square is lost, even in a pair; of its inverse the square is lost next to 1.
const LARGE: f64 = 1e30;

fn is_large(z: Complex64) -> bool {
    !(z.re.abs() <= LARGE && z.im.abs() <= LARGE)
}

fn is_tiny(z: Complex64) -> bool {
    z.re.abs() < 1.0 / LARGE && z.im.abs() < 1.0 / LARGE
}

/// `ln(2 |z|)` of a large number; infinite if a part is.
fn ln_of_double(z: Complex64) -> f64 {
    if !is_finite(z) {
        return hypot(z.re, z.im);
    }
    let point = Scaled::of(z.re, z.im);
    Ratio::of(point.square(), 2.0 * point.exponent + 2.0).ln().value() * 0.5
}

/// The square roots of `1 - z` and `1 + z`.
fn roots(z: Complex64) -> (Point, Point) {
    let (less, more) = (Pair::sum(1.0, -z.re), Pair::sum(1.0, z.re));
    (Point { re: less, im: Pair::of(-z.im) }.sqrt(), Point { re: more, im: Pair::of(z.im) }.sqrt())
}

pub(in crate::eval) fn asin(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if is_tiny(z) || (x == 0.0 && y.is_nan()) {
        return z;
    }
    if is_large(z) {
        return Complex::new(atan2(x, y.abs()), ln_of_double(z).copysign(y));
    }
    let (less, more) = roots(z);
    let real = angle_of(Pair::of(x), (less.re * more.re - less.im * more.im).abs()).value();
    Complex::new(real, asinh_of((less.re * more.im - less.im * more.re).abs()).value().copysign(y))
}

pub(in crate::eval) fn acos(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if x == 0.0 && y.is_nan() {
        return Complex::new(FRAC_PI_2, y);
    }
    if is_large(z) {
        return Complex::new(atan2(y.abs(), x), -ln_of_double(z).copysign(y));
    }
    if is_tiny(z) {
        return Complex::new(FRAC_PI_2, -y);
    }
    let (less, more) = roots(z);
    let real = angle_of(less.re, more.re).value() * 2.0;
    Complex::new(real, asinh_of((more.re * less.im - more.im * less.re).abs()).value().copysign(-y))
}

/// `i acos z` or `-i acos z`, whichever has the real part that is not negative.
pub(in crate::eval) fn acosh(z: Complex64) -> Complex64 {
    let angle = acos(z);
    Complex::new(angle.im.abs(), angle.re.copysign(z.im))
}

pub(in crate::eval) fn asinh(z: Complex64) -> Complex64 {
    turned(z, asin)
}

/// `ln((1 + z) / (1 - z)) / 2`.
pub(in crate::eval) fn atanh(z: Complex64) -> Complex64 {
    let Complex { re: x, im: y } = z;
    if is_tiny(z) || (x == 0.0 && y.is_nan()) {
        return z;
    }
    if x.abs() == 1.0 && y == 0.0 {
        return Complex::new(f64::INFINITY.copysign(x), y);
    }
    if x.abs() == f64::INFINITY || y.abs() == f64::INFINITY {
        let angle = if y.is_nan() { y } else { FRAC_PI_2.copysign(y) };
        return Complex::new(0f64.copysign(x), angle);
    }
    if is_large(z) {
        if !is_finite(z) {
            return Complex::new(f64::NAN, f64::NAN);
        }
        // The real part of 1 / z.
        let point = Scaled::of(x, y);
        let square = point.square();
        let real = scaled(Pair::of(point.x) / square, -point.exponent).copysign(x);
        return Complex::new(real, FRAC_PI_2.copysign(y));
    }
    if x.abs() == 1.0 && y.abs() < 1e-100 {
        let real = (Ratio::of(Pair::of(y.abs()), -1.0).ln().value() * -0.5).copysign(x);
        return Complex::new(real, FRAC_PI_4.copysign(y));
    }
    // ln1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4, and half the angle of (1 - x^2 - y^2, 2y).
    let (less, more) = (Pair::sum(1.0, -x.abs()), Pair::sum(1.0, x.abs()));
    let square = Pair::product(y, y);
    let ratio = Ratio::of_one_plus(Pair::of(4.0 * x.abs()) / (less.square() + square));
    let angle = angle_of(Pair::of(2.0 * y), less * more - square);
    Complex::new((ratio.ln().value() * 0.25).copysign(x), angle.value() * 0.5)
}
