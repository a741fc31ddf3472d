//! The element types of matrices: `f64` and complex `f64`.

use crate::eval::product::reader;
use crate::eval::scalar::{Form, Held, Number, elements_of};
use crate::ir::{Data, ElementType};
use num_complex::{Complex, Complex64};
use std::collections::TryReserveError;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Real or complex numbers in twice the precision of `f32`.
pub(in crate::eval) trait Field:
    Copy
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Whether there are no imaginary parts.
    const IS_REAL: bool;
    /// No number.
    const NAN: Self;
    /// The conjugate; of a real number itself.
    fn conjugate(self) -> Self;
    /// The real part.
    fn re(self) -> f64;
    /// The imaginary part.
    fn im(self) -> f64;
    /// A real number.
    fn of_real(value: f64) -> Self;
    /// A number of these parts; a real number has the first only.
    fn of_parts(re: f64, im: f64) -> Self;
    /// The sum of the parts' absolute values, by which LAPACK compares pivots.
    fn size(self) -> f64 {
        self.re().abs() + self.im().abs()
    }
    /// The absolute value.
    fn length(self) -> f64 {
        libm::hypot(self.re(), self.im())
    }
    /// The quotient. The square of a complex divisor need not be in range.
    fn over(self, divisor: Self) -> Self;
    /// The product with a real number.
    fn times(self, factor: f64) -> Self {
        Self::of_parts(self.re() * factor, self.im() * factor)
    }
    /// The quotient by a real number.
    fn shared(self, divisor: f64) -> Self {
        Self::of_parts(self.re() / divisor, self.im() / divisor)
    }
}

impl Field for f64 {
    const IS_REAL: bool = true;
    const NAN: Self = f64::NAN;
    fn conjugate(self) -> Self {
        self
    }
    fn re(self) -> f64 {
        self
    }
    fn im(self) -> f64 {
        0.0
    }
    fn of_real(value: f64) -> Self {
        value
    }
    fn of_parts(re: f64, _: f64) -> Self {
        re
    }
    fn over(self, divisor: Self) -> Self {
        self / divisor
    }
}

impl Field for Complex64 {
    const IS_REAL: bool = false;
    const NAN: Self = Complex::new(f64::NAN, f64::NAN);
    fn conjugate(self) -> Self {
        self.conj()
    }
    fn re(self) -> f64 {
        self.re
    }
    fn im(self) -> f64 {
        self.im
    }
    fn of_real(value: f64) -> Self {
        Complex::new(value, 0.0)
    }
    fn of_parts(re: f64, im: f64) -> Self {
        Complex::new(re, im)
    }
    fn over(self, divisor: Self) -> Self {
        let largest = divisor.re.abs().max(divisor.im.abs());
        if largest == 0.0 || !largest.is_finite() {
            return self / divisor;
        }
        // Of a divisor near 1 the square is near 1.
        let near = divisor.unscale(largest);
        (self * near.conj()).unscale(near.norm_sqr()).unscale(largest)
    }
}

/// The square root with a real part that is not negative.
pub(super) fn square_root(value: Complex64) -> Complex64 {
    let length = value.length();
    if length == 0.0 {
        return Complex64::default();
    }
    // Of the two parts the larger comes from a sum, the other from the product, which is half of the imaginary part.
    let larger = ((length + value.re.abs()) / 2.0).sqrt();
    let other = value.im.abs() / (2.0 * larger);
    if value.re >= 0.0 {
        Complex::new(larger, other.copysign(value.im))
    } else {
        Complex::new(other, larger.copysign(value.im))
    }
}

/// The elements of floats or complex numbers.
pub(in crate::eval) fn read<F: Field>(data: &Data) -> Result<Vec<F>, TryReserveError> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(data.len().unwrap_or(0))?;
    let Some(element_type) = data.element_type() else { return Ok(numbers) };
    let (read, count) = (reader(element_type), data.len().unwrap_or(0));
    numbers.extend((0..count).map(|position| of_number::<F>(read(data, position))));
    Ok(numbers)
}

fn of_number<F: Field>(number: Number) -> F {
    match number {
        Number::Integer(value) => F::of_real(value as f64),
        Number::Real(value) => F::of_real(value),
        Number::Complex(re, im) => F::of_parts(re, im),
    }
}

/// The numbers as elements of a type.
pub(in crate::eval) fn write<F: Field>(values: &[F], element_type: ElementType) -> Result<Data, TryReserveError> {
    nearest(values.len(), &|position| Number::Complex(values[position].re(), values[position].im()), element_type)
}

/// The elements of a type that are nearest to `count` numbers.
fn nearest(count: usize, number: &dyn Fn(usize) -> Number, element_type: ElementType) -> Result<Data, TryReserveError> {
    let form = Form::of(element_type);
    elements_of!(element_type, T => {
        let mut elements: Vec<T> = Vec::new();
        elements.try_reserve_exact(count)?;
        elements.extend((0..count).map(|position| T::nearest(number(position), form)));
        Ok(T::array(elements, element_type))
    })
}
