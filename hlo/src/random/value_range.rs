//! Ranges and rounding errors of the elements of an array.

use crate::eval::converted;
use crate::ir::{Data, ElementType};

/// What holds of every element of an array.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct ValueRange {
    /// The least number that the reference evaluator may give.
    pub(super) low: f64,
    /// The greatest one.
    pub(super) high: f64,
    /// How far an implementation may be from the reference.
    pub(super) error: f64,
    /// Every element is a multiple of `2^-grain` that `f32` holds; then the error is 0.
    pub(super) grain: Option<i32>,
}

/// The largest number that is tame, sign aside.
const MAX_TAME: f64 = 1e4;
/// Finer numbers are not taken to be multiples of anything.
const MAX_GRAIN: i32 = 20;
/// About eight units in the last place of `f32`, as a part of the largest number: what an implementation may add to the error.
const ROUNDING: f64 = 1e-6;

impl ValueRange {
    /// Numbers of which nothing is known.
    pub(super) const UNKNOWN: Self =
        ValueRange { low: f64::NEG_INFINITY, high: f64::INFINITY, error: f64::INFINITY, grain: None };

    /// The tame inputs of a program.
    pub(super) const INPUT: Self = ValueRange { low: -4.0, high: 4.0, error: 0.0, grain: Some(2) };

    /// What a computation that is called may assume of its parameters.
    pub(super) const ARGUMENT: Self = ValueRange { low: -4.0, high: 4.0, error: 4e-6, grain: None };

    /// Any value of an integer type or `pred`; exact whatever its size.
    pub(super) fn any(element_type: ElementType) -> Self {
        let bits = element_type.bits() as i32;
        let (low, high) = match element_type {
            ElementType::Pred => (0.0, 1.0),
            signed if signed.is_signed() => (-power_of_two(bits - 1), power_of_two(bits - 1) - 1.0),
            _ => (0.0, power_of_two(bits) - 1.0),
        };
        ValueRange { low, high, error: 0.0, grain: Some(0) }
    }

    /// Integers of a type, between bounds unless they wrap.
    pub(super) fn integers(element_type: ElementType, low: f64, high: f64) -> Self {
        let any = ValueRange::any(element_type);
        if any.low <= low && high <= any.high { ValueRange { low, high, ..any } } else { any }
    }

    /// Multiples of `2^-grain`, or what rounding makes of them.
    pub(super) fn exact(low: f64, high: f64, grain: i32) -> Self {
        let range = ValueRange { low, high, error: 0.0, grain: Some(grain) };
        if range.bound().max(1.0) * power_of_two(grain) <= power_of_two(23) {
            range
        } else {
            ValueRange::rounded(low, high, 0.0)
        }
    }

    /// The result of an inexact operation on operands that bring this error along.
    pub(super) fn rounded(low: f64, high: f64, error: f64) -> Self {
        let bound = low.abs().max(high.abs());
        ValueRange { low, high, error: error + bound * ROUNDING, grain: None }
    }

    /// The elements of a constant.
    pub(super) fn of(data: &Data, element_type: ElementType) -> Self {
        let Some(Data::F64(values)) = converted(data, ElementType::F64) else { return ValueRange::UNKNOWN };
        let Some(&first) = values.first() else {
            return ValueRange { low: 0.0, high: 0.0, error: 0.0, grain: Some(0) };
        };
        if !values.iter().all(|value| value.is_finite()) {
            return ValueRange::UNKNOWN;
        }
        let (low, high) = values.iter().fold((first, first), |(low, high), &value| (low.min(value), high.max(value)));
        if element_type != ElementType::F32 {
            return ValueRange { low, high, error: 0.0, grain: Some(0) };
        }
        let is_grain = |grain: &i32| values.iter().all(|value| (value * power_of_two(*grain)).fract() == 0.0);
        match (0..=MAX_GRAIN).find(is_grain) {
            Some(grain) => ValueRange::exact(low, high, grain),
            None => ValueRange { low, high, error: 0.0, grain: None },
        }
    }

    /// The largest element, sign aside.
    pub(super) fn bound(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// What holds of the elements of both.
    pub(super) fn join(self, other: Self) -> Self {
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        match self.grain.zip(other.grain) {
            Some((a, b)) => {
                let grain = a.max(b);
                ValueRange { low, high, error: 0.0, grain: Some(grain) }.held()
            }
            None => ValueRange { low, high, error: self.error.max(other.error), grain: None },
        }
    }

    /// Integers may be of any size; multiples of fractions that are known to be too many for `f32` are not called exact.
    fn held(self) -> Self {
        match self.grain {
            Some(grain) if grain > 0 => ValueRange::exact(self.low, self.high, grain),
            _ => self,
        }
    }

    /// Whether such `f32` may be computed with where numbers are tame.
    pub(super) fn is_tame(self) -> bool {
        self.bound() <= MAX_TAME && self.error <= 1e-4 * self.bound().max(1.0)
    }

    /// Whether a computation that is called may be given such `f32`.
    pub(super) fn is_argument(self) -> bool {
        self.bound() <= ValueRange::ARGUMENT.bound() && self.error <= ValueRange::ARGUMENT.error
    }
}

fn power_of_two(exponent: i32) -> f64 {
    libm::ldexp(1.0, exponent)
}
