//! `reduce-precision` and `stochastic-convert`.

use super::call::Call;
use super::product::{reader, rounded};
use super::scalar::{Form, Held, Number, elements_of};
use super::work::Stop;
use crate::ir::{Data, ElementType};
use half::{bf16, f16};

/// Where exponent and mantissa lie in the patterns of a type.
struct Fields {
    exponent: u32,
    mantissa: u32,
}

impl Fields {
    /// Of the type that XLA works in: floats of less than 16 bits are reduced as `f16`, those that are all exponent as
    /// `f32`.
    fn of(element_type: ElementType) -> Self {
        match element_type {
            ElementType::F64 => Fields { exponent: 11, mantissa: 52 },
            ElementType::F32 | ElementType::F8E8M0Fnu => Fields { exponent: 8, mantissa: 23 },
            ElementType::Bf16 => Fields { exponent: 8, mantissa: 7 },
            _ => Fields { exponent: 5, mantissa: 10 },
        }
    }

    fn pattern(&self, value: f64) -> u64 {
        match (self.exponent, self.mantissa) {
            (11, _) => value.to_bits(),
            (8, 23) => u64::from((value as f32).to_bits()),
            (8, _) => u64::from(<u16 as Held>::nearest(Number::Real(value), Form::of(ElementType::Bf16))),
            _ => u64::from(<u16 as Held>::nearest(Number::Real(value), Form::of(ElementType::F16))),
        }
    }

    fn value(&self, pattern: u64) -> f64 {
        match (self.exponent, self.mantissa) {
            (11, _) => f64::from_bits(pattern),
            (8, 23) => f64::from(f32::from_bits(pattern as u32)),
            (8, _) => bf16::from_bits(pattern as u16).to_f64(),
            _ => f16::from_bits(pattern as u16).to_f64(),
        }
    }

    /// A number with `exponent` and `mantissa` bits: first the mantissa is rounded, ties to even, then what is too large
    /// becomes an infinity and what has too small an exponent a zero, both with its sign. Fields that are at least as wide
    /// as the type's stay.
    fn reduce(&self, value: f64, exponent: i64, mantissa: i64) -> f64 {
        let sign = 1u64 << (self.exponent + self.mantissa);
        let pattern = self.pattern(value);
        let mut magnitude = pattern & (sign - 1);
        let dropped = i64::from(self.mantissa).saturating_sub(mantissa);
        if dropped > 0 {
            // Half of the last place that stays, less one where that place is even: then a tie is not carried into it.
            let last = 1u64 << dropped;
            let odd = u64::from(magnitude & last != 0);
            magnitude = (magnitude + last / 2 - 1 + odd) & !(last - 1);
        }
        if exponent < i64::from(self.exponent) {
            let bias = (1u64 << (self.exponent - 1)) - 1;
            let reduced_bias = (1u64 << (exponent - 1)) - 1;
            let held = magnitude >> self.mantissa;
            if held > bias + reduced_bias {
                magnitude = ((1 << self.exponent) - 1) << self.mantissa;
            } else if held <= bias - reduced_bias {
                magnitude = 0;
            }
        }
        self.value(pattern & sign | magnitude)
    }
}

/// Each number with fewer bits of exponent and mantissa; NaNs stay what they are.
pub(super) fn reduce(call: &Call<'_, '_>, exponent: i64, mantissa: i64) -> Result<Data, Stop> {
    let fields = Fields::of(call.result().element_type);
    let reduced = |value: f64| fields.reduce(value, exponent, mantissa);
    elements_of!(call.result().element_type, T => {
        let form = Form::of(call.result().element_type);
        let values = call.work().map(call.elements::<T>(0), |a, values: &mut [T]| {
            a.iter().zip(values).for_each(|(&a, value)| *value = of_value(a, form, &reduced));
        })?;
        Ok(T::array(values, call.result().element_type))
    })
}

fn of_value<T: Held>(a: T, form: Form, f: &dyn Fn(f64) -> f64) -> T {
    match a.value(form) {
        Number::Real(value) if !value.is_nan() => T::nearest(Number::Real(f(value)), form),
        _ => a,
    }
}

/// Each number as one of the two neighbors in the result's type: away from zero if the random bits, as a fraction of 1, are
/// less than the part of the way that the number has gone there from the neighbor at zero's side.
///
/// What no neighbors enclose is converted as `convert` does it: to the end of an integer's range, and to what is nearest
/// beyond the greatest float.
pub(super) fn stochastic_convert(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let width = call.shape(1).element_type.bits();
    let (numbers, chances) = (reader(call.shape(0).element_type), reader(call.shape(1).element_type));
    let to = call.result().element_type;
    let floats = floats_of(to);
    let neighbors: &Neighbors<'_> = if to.is_integer() { &integers } else { &floats };
    rounded(call.work(), to, call.data(0).len().unwrap_or(0), &|position| {
        let (number, random) = (numbers(call.data(0), position), chances(call.data(1), position));
        Number::Real(chosen(number.real(), random, width, neighbors))
    })
}

/// The numbers about a magnitude, unless it is one of them.
type Neighbors<'a> = dyn Fn(f64) -> Option<(f64, f64)> + Sync + 'a;

fn chosen(value: f64, random: Number, width: u32, neighbors: &Neighbors<'_>) -> f64 {
    let (Number::Integer(random), Some((low, high))) = (random, neighbors(value.abs())) else { return value };
    // Below 2^width, of which the fraction is a part; scaling by a power of 2 is exact.
    let fraction = (value.abs() - low) / (high - low) * (1u128 << width) as f64;
    let taken = if random < fraction as i128 { high } else { low };
    taken.copysign(value)
}

/// The integers about a magnitude, unless it is one.
fn integers(magnitude: f64) -> Option<(f64, f64)> {
    let low = magnitude.floor();
    (magnitude.is_finite() && low < magnitude).then_some((low, low + 1.0))
}

/// The numbers of a float type about a magnitude, unless it is one of them or lies beyond the greatest.
pub(super) fn floats_of(element_type: ElementType) -> impl Fn(f64) -> Option<(f64, f64)> + Sync {
    let form = Form::of(element_type);
    let about: fn(f64, Form) -> Option<(f64, f64)> = elements_of!(element_type, T => floats::<T>);
    move |magnitude| about(magnitude, form)
}

fn floats<T: Held>(magnitude: f64, form: Form) -> Option<(f64, f64)> {
    let nearest = T::nearest(Number::Real(magnitude), form);
    let near = nearest.value(form).real();
    // Magnitudes of a format are ordered as their patterns are.
    let other = if near > magnitude { nearest.pattern(form).checked_sub(1)? } else { nearest.pattern(form) + 1 };
    let other = T::of_pattern(other, form).value(form).real();
    let (low, high) = if near > magnitude { (other, near) } else { (near, other) };
    (low < magnitude && magnitude < high && high.is_finite()).then_some((low, high))
}
