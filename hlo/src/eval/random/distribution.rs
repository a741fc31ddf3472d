//! `rng`: uniformly and normally distributed numbers, for which XLA specifies no generator.

use super::counter_based::philox;
use crate::eval::call::Call;
use crate::eval::movement::extents;
use crate::eval::precision::floats_of;
use crate::eval::product::{reader, rounded};
use crate::eval::scalar::{Number, ln, sin_cos_of_turn};
use crate::eval::work::Stop;
use crate::ir::{Data, RandomDistribution};
use std::cmp::Ordering;

/// The key of all draws.
const KEY: u64 = super::FIRST_STATE as u64;

/// Numbers that depend on nothing but which draw of the run this is and on their position: element `i` of draw `d` is made
/// of Philox's four words for the counter `i + 2^64 d`.
pub(in crate::eval) fn rng(call: &Call<'_, '_>, distribution: RandomDistribution) -> Result<Data, Stop> {
    let draw = call.chance << 64;
    let element_type = call.result().element_type;
    let read = reader(element_type);
    let (a, b, about) = (read(call.data(0), 0), read(call.data(1), 0), floats_of(element_type));
    rounded(call.work(), element_type, extents(call.result()).iter().product(), &|position| {
        let words = philox(KEY, draw | position as u128).map(u64::from);
        let words = [words[0] | words[1] << 32, words[2] | words[3] << 32];
        match distribution {
            RandomDistribution::Uniform => uniform(a, b, words, &about),
            _ => normal(a, b, words),
        }
    })
}

/// A number from `a` on and less than `b`; `a` where there is none. Integers are `a + floor(u (b - a))` for the first 64 bits
/// as a fraction `u` of 1, floats `a (1 - u) + b u`, rounded down.
fn uniform(a: Number, b: Number, words: [u64; 2], about: &dyn Fn(f64) -> Option<(f64, f64)>) -> Number {
    match (a, b) {
        (Number::Integer(low), Number::Integer(high)) => {
            let range = (high - low).max(0) as u128;
            Number::Integer(low + ((u128::from(words[0]) * range) >> 64) as i128)
        }
        _ => {
            let (low, high): (f64, f64) = (a.real(), b.real());
            if low.partial_cmp(&high) != Some(Ordering::Less) {
                return a;
            }
            let u = fraction(words[0]);
            let value = (low * (1.0 - u) + high * u).clamp(low, high.next_down());
            let down = match about(value.abs()) {
                Some((_, outer)) if value < 0.0 => -outer,
                Some((inner, _)) => inner,
                None => value,
            };
            Number::Real(down.max(low))
        }
    }
}

/// A normally distributed number with mean `a` and standard deviation `b`, by the method of Box and Muller (1958): of `u`
/// in (0, 1] and `v` in [0, 1) it is `a + b sqrt(-2 ln u) cos(2 π v)`.
fn normal(a: Number, b: Number, words: [u64; 2]) -> Number {
    let u = 1.0 - fraction(words[0]);
    let (_, cosine) = sin_cos_of_turn(words[1] >> 11, 1 << 53);
    Number::Real(a.real() + b.real() * (-2.0 * ln(u)).sqrt() * cosine)
}

/// The upper 53 bits, as a fraction of 1.
fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}
