//! `rng`: uniformly and normally distributed numbers, for which XLA specifies no generator.

use super::DRAWING_KEY;
use super::counter_based::philox;
use crate::eval::call::Call;
use crate::eval::movement::extents;
use crate::eval::precision::floats_of;
use crate::eval::product::{reader, rounded};
use crate::eval::scalar::{Number, ln, sin_cos_of_turn};
use crate::eval::work::Stop;
use crate::ir::{Data, ElementType, RandomDistribution};

/// Numbers that depend on nothing but which draw of the run this is and on their position: element `i` of draw `d` is made
/// of Philox's four words for the counter `i + 2^64 d`. Floats are computed in `f64` if they are that, else in `f32`.
pub(in crate::eval) fn rng(call: &Call<'_, '_>, distribution: RandomDistribution) -> Result<Data, Stop> {
    let draw = call.chance << 64;
    let element_type = call.result().element_type;
    let is_wide = element_type == ElementType::F64;
    let read = reader(element_type);
    let (a, b, about) = (read(call.data(0), 0), read(call.data(1), 0), floats_of(element_type));
    rounded(call.work(), element_type, extents(call.result()).iter().product(), &|position| {
        let words = philox(DRAWING_KEY, draw | position as u128);
        let pairs = [[words[0], words[1]], [words[2], words[3]]];
        match (a, b) {
            (Number::Integer(low), Number::Integer(high)) => Number::Integer(integer(low, high, pairs[0])),
            _ => {
                let numbers = pairs.map(|words| fraction(words, is_wide));
                Number::Real(match distribution {
                    RandomDistribution::Uniform => uniform(a.real(), b.real(), numbers[0], is_wide, &about),
                    _ => normal(a.real(), b.real(), numbers),
                })
            }
        }
    })
}

/// `low + floor(u (high - low))` for 64 bits as a fraction `u` of 1; `low` where there is no number from there on and less than `high`.
fn integer(low: i128, high: i128, [lower, upper]: [u32; 2]) -> i128 {
    let range = (high - low).max(0) as u128;
    let bits = u128::from(lower) | u128::from(upper) << 32;
    low + ((bits * range) >> 64) as i128
}

/// Some bits, the upper ones, as a fraction of 1: the fraction's numerator and denominator. Of two words 53 are taken, of one 24.
type Fraction = (u64, u64);

fn fraction([lower, upper]: [u32; 2], is_wide: bool) -> Fraction {
    match is_wide {
        true => ((u64::from(lower) | u64::from(upper) << 32) >> 11, 1 << 53),
        false => (u64::from(lower >> 8), 1 << 24),
    }
}

/// `low (1 - u) + high u`, rounded at each operation, then down to the type; `low` where that is no number from there on and less than `high`.
fn uniform(
    low: f64,
    high: f64,
    (numerator, denominator): Fraction,
    is_wide: bool,
    about: &dyn Fn(f64) -> Option<(f64, f64)>,
) -> f64 {
    let u = numerator as f64 / denominator as f64;
    let value = match is_wide {
        true => low * (1.0 - u) + high * u,
        false => {
            let (low, high, u) = (low as f32, high as f32, u as f32);
            f64::from(low * (1.0 - u) + high * u)
        }
    };
    if !(low <= value && value < high) {
        return low;
    }
    match about(value.abs()) {
        Some((_, outer)) if value < 0.0 => -outer,
        Some((inner, _)) => inner,
        None => value,
    }
}

/// A normally distributed number with a mean and a standard deviation, by the method of Box and Muller (1958): of `u` in (0, 1] and `v` in
/// [0, 1) it is `mean + deviation sqrt(-2 ln u) cos(2 π v)`.
fn normal(mean: f64, deviation: f64, [u, v]: [Fraction; 2]) -> f64 {
    let u = 1.0 - u.0 as f64 / u.1 as f64;
    let (_, cosine) = sin_cos_of_turn(v.0, v.1);
    mean + deviation * (-2.0 * ln(u)).sqrt() * cosine
}
