//! Operands: special values, bit patterns of all magnitudes, and dense ranges.

use crate::count::cases;
use weft_hlo::random::Rng;

/// Values at which functions change their course.
pub(crate) const SPECIAL: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.0,
    -2.0,
    2.5,
    -2.5,
    3.0,
    -3.0,
    4.0,
    10.0,
    -10.0,
    0.1,
    -0.1,
    1e-8,
    -1e-8,
    1e-30,
    -1e-30,
    1e-40,
    -1e-40,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1.000_000_1,
    0.999_999_94,
    -0.999_999_94,
    88.5,
    89.0,
    -87.0,
    -88.0,
    127.0,
    128.0,
    -149.0,
    200.0,
    8_388_607.5,
    8_388_608.0,
    16_777_215.0,
    16_777_216.0,
    -16_777_217.0,
    2_147_483_520.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    4_294_967_040.0,
    4_294_967_296.0,
    1e10,
    1e22,
    -1e22,
    1e38,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    std::f32::consts::FRAC_PI_2,
    std::f32::consts::PI,
    std::f32::consts::LN_2,
    std::f32::consts::E,
];

/// The next word of a fixed sequence.
pub(crate) fn word(rng: &mut Rng) -> u32 {
    (rng.next_u64() >> 32) as u32
}

/// The next number in `[low, high)`.
pub(crate) fn between(rng: &mut Rng, low: f32, high: f32) -> f32 {
    low + (high - low) * (word(rng) as f32 / 4_294_967_296.0)
}

/// How many operands a sweep has at least: 2^20 in the long run.
pub(crate) fn count() -> usize {
    usize::try_from(cases(10_486)).expect("a count")
}

/// Operands of a function of one number, with `dense` a range to look at closely.
pub(crate) fn one(dense: (f32, f32)) -> Vec<f32> {
    let mut values = SPECIAL.to_vec();
    // Every exponent is met, NaN included; the stride is odd, so that significands vary.
    values.extend((0..=u32::MAX).step_by(90_001).map(f32::from_bits));
    let steps = 30_000u16;
    values.extend((0..=steps).map(|i| dense.0 + (dense.1 - dense.0) * (f32::from(i) / f32::from(steps))));
    // The neighbourhoods of 1 and of the multiples of pi / 2.
    values.extend((0..2_000).map(|i| f32::from_bits(1f32.to_bits() - 1_000 + i)));
    values.extend((0..2_000u16).map(|i| f32::from(i) * std::f32::consts::FRAC_PI_2));
    let rng = &mut Rng::new(7);
    while values.len() < count() {
        values.push(f32::from_bits(word(rng)));
        values.push(between(rng, dense.0, dense.1));
    }
    values
}

/// Pairs of operands, half of them of any magnitude and half from the ranges given.
pub(crate) fn two(first: (f32, f32), second: (f32, f32)) -> [Vec<f32>; 2] {
    let mut pairs: Vec<_> = SPECIAL.iter().flat_map(|x| SPECIAL.iter().map(|y| (*x, *y))).collect();
    let rng = &mut Rng::new(1);
    for _ in 0..count().max(50_000) / 2 {
        pairs.push((f32::from_bits(word(rng)), f32::from_bits(word(rng))));
        pairs.push((between(rng, first.0, first.1), between(rng, second.0, second.1)));
    }
    [pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()]
}

/// Pairs of words: special whole numbers, small ones, and any.
pub(crate) fn words() -> [Vec<u32>; 2] {
    let special: Vec<u32> = [0, 1, 2, 3, 7, 31, 32, 33, 63, 255, 65_535, 65_536, 16_777_217, i32::MAX, i32::MAX - 1]
        .iter()
        .flat_map(|x: &i32| [*x, x.wrapping_neg(), x.wrapping_neg().wrapping_sub(1)])
        .map(i32::cast_unsigned)
        .collect();
    let mut pairs: Vec<_> = special.iter().flat_map(|x| special.iter().map(|y| (*x, *y))).collect();
    let rng = &mut Rng::new(2);
    for _ in 0..10_000 {
        pairs.push((word(rng), word(rng)));
        pairs.push((word(rng), word(rng) % 40));
        pairs.push((word(rng) % 1_000, word(rng) % 100));
    }
    [pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()]
}
