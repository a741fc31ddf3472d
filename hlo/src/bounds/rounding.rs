//! What rounding to a type costs.

use crate::eval::converted;
use crate::ir::{Data, ElementType, FloatFormat, FloatRange};

/// The real type of the parts of a number.
fn part(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        real => real,
    }
}

/// How numbers of a floating-point type are rounded.
#[derive(Copy, Clone, Debug)]
pub(super) struct Rounding {
    element_type: ElementType,
    range: FloatRange,
    max: f64,
    /// The type that an implementation computes in.
    register: FloatRange,
}

impl Rounding {
    /// `None` of types that are no floats and no complex numbers.
    pub(super) fn of(element_type: ElementType) -> Option<Self> {
        let element_type = part(element_type);
        let range = FloatRange::of(element_type)?;
        let is_double = element_type == ElementType::F64;
        let register = if is_double { range } else { FloatRange::of(ElementType::F32)? };
        let max = match FloatFormat::of(element_type) {
            Some(format) => f64::from(format.max()),
            None if is_double => f64::MAX,
            None => f64::from(f32::MAX),
        };
        Some(Rounding { element_type, range, max, register })
    }

    /// The relative distance of neighbors in the type that is computed in, and in the type itself.
    pub(super) fn epsilons(&self) -> [f64; 2] {
        [self.register, self.range].map(|range| libm::ldexp(1.0, -(range.mantissa_bits as i32)))
    }

    /// The least normal number, where an implementation may take smaller ones for zeros.
    pub(super) fn least_normal(&self) -> f64 {
        if self.element_type == ElementType::F64 { 0.0 } else { f64::from(f32::MIN_POSITIVE) }
    }

    /// The greatest finite number.
    pub(super) fn max(&self) -> f64 {
        self.max
    }

    /// Whether the type has infinities and NaNs.
    pub(super) fn has_specials(&self) -> bool {
        self.range.is_ieee
    }

    /// Whether the type has zero and negative numbers.
    pub(super) fn has_sign(&self) -> bool {
        FloatFormat::of(self.element_type).is_none_or(FloatFormat::has_sign)
    }

    fn is_narrow(&self) -> bool {
        self.range.mantissa_bits < self.register.mantissa_bits
    }

    /// Whether the type has the number.
    pub(super) fn has(&self, value: f64) -> bool {
        let narrowed = converted(&Data::F64(vec![value]), self.element_type);
        let back = narrowed.and_then(|narrowed| converted(&narrowed, ElementType::F64));
        back == Some(Data::F64(vec![value]))
    }

    /// The error of a number, one of this size with this error, if what is subnormal may have become a zero.
    pub(super) fn flushed(&self, size: f64, error: f64) -> f64 {
        let least = self.least_normal();
        let may_be_small = size - error < least && size + error > 0.0;
        if may_be_small { error + (size + error).min(least) } else { error }
    }

    /// The error of a number with these parts, of which each may have become a zero.
    pub(super) fn flushed_parts(&self, parts: [Option<f64>; 2], error: f64) -> f64 {
        parts.into_iter().flatten().map(|part| self.flushed(part, error)).fold(error, f64::max)
    }

    /// The error of a result of this size, computed to `units` in the last place after an error that it inherits, without what becomes of
    /// subnormal numbers.
    pub(super) fn error(&self, size: f64, inherited: f64, units: f64) -> f64 {
        let largest = size + inherited;
        let mut error = inherited + units * distance(self.register, largest);
        if self.is_narrow() {
            error += 0.5 * distance(self.range, largest + units * distance(self.register, largest));
        }
        if error.is_nan() || size + error > self.max {
            return f64::INFINITY;
        }
        error
    }
}

/// The distance between neighbors of a size.
fn distance(range: FloatRange, size: f64) -> f64 {
    let exponent = if size > 0.0 { libm::log2(size).floor() as i32 } else { i32::MIN };
    libm::ldexp(1.0, (exponent.saturating_sub(range.mantissa_bits as i32)).max(range.least))
}
