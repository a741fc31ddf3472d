//! Random inputs that are the same on every machine.

use crate::report::Failure;
use num_complex::Complex;
use std::collections::TryReserveError;
use weft_hlo::eval;
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Shape};

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, every seed as good as the next.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Roughly normal, mean 0, variance 1: the sum of four 16-bit uniforms, scaled. No function of a maths library is
    /// called, so that every machine gets the same bits.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
        // The sum has mean 2 * 65535 and standard deviation 65536 / sqrt(3).
        ((sum as f64 - 131_070.0) * (3f64.sqrt() / 65_536.0)) as f32
    }

    /// Uniform in `0..=limit`.
    fn below(&mut self, limit: u64) -> u64 {
        // The bias of the remainder is below (limit + 1) / 2^64.
        let bits = self.next();
        limit.checked_add(1).map_or(bits, |count| bits % count)
    }

    /// Uniform in [0.5, 2].
    fn positive(&mut self) -> f32 {
        // 24 bits, which a float holds exactly.
        let unit = (self.next() >> 40) as f32 / (1u32 << 24) as f32;
        0.5 + 1.5 * unit
    }
}

/// How numbers are spread.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Distribution {
    /// Floats roughly normal, mean 0, variance 1; integers in [-9, 9] or [0, 9], as many of their bits as the type has.
    #[default]
    Normal,
    /// Floats uniform in [0.5, 2], integers as before.
    Positive,
    /// Integers uniform from 0 to below this, floats as before.
    Below(u64),
}

/// The value of parameter `number` for `seed`: numbers as the distribution says, both truth values.
pub(crate) fn literal(
    seed: u64,
    number: usize,
    name: &str,
    shape: &ArrayShape,
    distribution: Distribution,
) -> Result<Literal, Failure> {
    let refuse = || Failure::inputs(format!("parameter {number} ({name}) is {shape}: no random values of that kind"));
    let count = shape.element_count().and_then(|count| usize::try_from(count).ok()).ok_or_else(refuse)?;
    let no_memory = |_| Failure::inputs(format!("there is not enough memory for parameter {number} ({name})"));
    // A stream of its own for each parameter, so that one parameter's size does not change the next.
    let mut source = SplitMix64(seed ^ SplitMix64(number as u64).next());
    let element_type = shape.element_type;
    let data = match element_type {
        _ if element_type.is_integer()
            && let Distribution::Below(bound) = distribution =>
        {
            let greatest = bound.saturating_sub(1).min(greatest(element_type));
            Data::U64(filled(count, || source.below(greatest)).map_err(no_memory)?)
        }
        _ if element_type.is_float() && distribution == Distribution::Positive => {
            Data::F32(filled(count, || source.positive()).map_err(no_memory)?)
        }
        ElementType::Pred => Data::Pred(filled(count, || source.next() >> 63 == 1).map_err(no_memory)?),
        _ if element_type.is_unsigned() => Data::U32(filled(count, || source.below(9) as u32).map_err(no_memory)?),
        _ if element_type.is_integer() => Data::S32(filled(count, || source.below(18) as i32 - 9).map_err(no_memory)?),
        _ if element_type.is_complex() => {
            let pair = || Complex { re: source.normal(), im: source.normal() };
            Data::C64(filled(count, pair).map_err(no_memory)?)
        }
        _ => Data::F32(filled(count, || source.normal()).map_err(no_memory)?),
    };
    let data = eval::converted(&data, element_type).ok_or_else(refuse)?;
    Ok(Literal { shape: Shape::Array(shape.clone()), data })
}

/// The greatest value of an integer type.
fn greatest(element_type: ElementType) -> u64 {
    let bits = element_type.bits() - u32::from(element_type.is_signed());
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// `count` values, or an error if there is no memory for them.
fn filled<T>(count: usize, value: impl FnMut() -> T) -> Result<Vec<T>, TryReserveError> {
    let mut values = Vec::new();
    values.try_reserve_exact(count)?;
    values.extend(std::iter::repeat_with(value).take(count));
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_everywhere() {
        // The published first outputs of SplitMix64 from seed 1234567.
        let mut source = SplitMix64(1_234_567);
        assert_eq!([source.next(), source.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn floats_look_normal() {
        let mut source = SplitMix64(7);
        let values: Vec<f64> = (0..10_000).map(|_| f64::from(source.normal())).collect();
        let mean = values.iter().sum::<f64>() / 10_000.0;
        let variance = values.iter().map(|value| value * value).sum::<f64>() / 10_000.0;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
