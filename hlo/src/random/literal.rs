//! Random literals: elements, arrays, and the arguments of a module.

use super::options::{Numbers, Options};
use super::rng::Rng;
use crate::eval::reinterpreted;
use crate::ir::{ArrayShape, Complex, Data, ElementType, FloatFormat, Literal, Module, Shape};

/// An array of random elements.
pub(super) fn array(rng: &mut Rng, numbers: Numbers, element_type: ElementType, extents: &[i64]) -> Literal {
    let count = extents.iter().try_fold(1usize, |count, &extent| count.checked_mul(usize::try_from(extent).ok()?));
    Literal::array(extents, elements(rng, numbers, element_type, count.unwrap_or(0)))
}

/// So many random elements.
fn elements(rng: &mut Rng, numbers: Numbers, element_type: ElementType, count: usize) -> Data {
    let part = match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    };
    // Most arrays are of small numbers throughout, so that specials do not spread to everything.
    let draw: fn(&mut Rng, ElementType) -> u64 = match numbers {
        Numbers::Any if rng.chance(40) => bits,
        Numbers::Any | Numbers::Small => small,
        Numbers::Tame => tame,
    };
    let same = rng.chance(15).then(|| draw(rng, part));
    let mut draw = || same.unwrap_or_else(|| draw(rng, part));
    match element_type {
        ElementType::C64 => {
            let mut single = || f32::from_bits(draw() as u32);
            Data::C64((0..count).map(|_| Complex::new(single(), single())).collect())
        }
        ElementType::C128 => {
            let mut double = || f64::from_bits(draw());
            Data::C128((0..count).map(|_| Complex::new(double(), double())).collect())
        }
        _ => {
            let bits: Vec<u64> = (0..count).map(|_| draw()).collect();
            reinterpreted(&Data::U64(bits), element_type).expect("the bits are held")
        }
    }
}

/// The bits of any element of a type that is not complex.
fn bits(rng: &mut Rng, element_type: ElementType) -> u64 {
    match rng.weighted(&[55, 25, 20]) {
        0 => small(rng, element_type),
        1 => special(rng, element_type),
        _ => rng.next_u64() & mask(element_type),
    }
}

/// A number of small magnitude.
fn small(rng: &mut Rng, element_type: ElementType) -> u64 {
    let number = match rng.below(4) {
        // Quarters are exact in most types; the others round them.
        0 => rng.between(-16, 32) as f64 / 4.0,
        1 if element_type.is_float() => rng.between(-1_000_000, 1_000_000) as f64 * 7.3e-6,
        _ => rng.between(-4, 8) as f64,
    };
    nearest(element_type, number)
}

/// A number that errors of rounding do not come from.
fn tame(rng: &mut Rng, element_type: ElementType) -> u64 {
    if element_type.is_float() {
        return nearest(element_type, rng.between(-16, 16) as f64 / 4.0);
    }
    match rng.weighted(&[88, 9, 3]) {
        0 => rng.between(-9, 9) as u64 & mask(element_type),
        1 => rng.next_u64() & mask(element_type),
        _ => special(rng, element_type),
    }
}

/// The bits of an element near a number; of integers, those of its whole part.
fn nearest(element_type: ElementType, number: f64) -> u64 {
    match (element_type, FloatFormat::of(element_type)) {
        (ElementType::Pred, _) => number as u64 & 1,
        (_, Some(format)) => u64::from(format.nearest(number).unwrap_or(1)),
        (ElementType::F32, None) => u64::from((number as f32).to_bits()),
        (ElementType::F64, None) => number.to_bits(),
        _ => number as i64 as u64 & mask(element_type),
    }
}

/// A corner of the type: NaN, infinity, a zero, the least and the greatest number, the least positive one.
fn special(rng: &mut Rng, element_type: ElementType) -> u64 {
    let (all, negative) = (mask(element_type), rng.chance(50));
    let sign = all ^ (all >> 1);
    if element_type.is_integer() || element_type == ElementType::Pred {
        return [0, 1, all, sign, sign - 1][rng.below(5)] & all;
    }
    if let Some(format) = FloatFormat::of(element_type) {
        let one_of = |found: Option<u16>| u64::from(found.unwrap_or(0));
        return match rng.below(5) {
            0 => one_of(format.nan(negative)),
            1 => one_of(format.infinity(negative)),
            2 => sign,
            3 => 1 | if negative { sign } else { 0 },
            _ => one_of(format.nearest(f64::from(format.max()))),
        };
    }
    let signed = if negative { sign } else { 0 };
    let positive = match element_type {
        ElementType::F32 => [f32::NAN, f32::INFINITY, 0.0, f32::from_bits(1), f32::MAX, f32::MIN_POSITIVE]
            .map(|value| u64::from(value.to_bits())),
        ElementType::F64 => {
            [f64::NAN, f64::INFINITY, 0.0, f64::from_bits(1), f64::MAX, f64::MIN_POSITIVE].map(f64::to_bits)
        }
        _ => [0; 6],
    };
    positive[rng.below(positive.len())] | signed
}

/// The bits that elements of the type have; of `pred` one.
fn mask(element_type: ElementType) -> u64 {
    if element_type == ElementType::Pred { 1 } else { u64::MAX >> (64 - element_type.bits().min(64)) }
}

/// Random arguments for the entry's parameters, as [`evaluate`](crate::eval::evaluate) takes them: one literal for each leaf
/// of each parameter, of the [numbers](Options::numbers) that the options name; of the options nothing else matters. A bounded
/// extent is taken at its bound, an unknown one as 0; tokens and handles are empty tuples.
pub fn inputs(module: &Module, seed: u64, options: &Options) -> Vec<Literal> {
    let mut rng = Rng::new(seed);
    let entry = module.entry_computation();
    let parameters = entry.parameters();
    let leaves = parameters.into_iter().flat_map(|id| entry.instructions[id].shape.leaves());
    leaves.map(|leaf| input(&mut rng, options.numbers, leaf)).collect()
}

fn input(rng: &mut Rng, numbers: Numbers, leaf: &Shape) -> Literal {
    let Some(ArrayShape { element_type, extents, .. }) = leaf.as_array() else { return Literal::tuple(Vec::new()) };
    let extents: Vec<i64> = extents.iter().map(|&extent| extent.max(0)).collect();
    array(rng, numbers, *element_type, &extents)
}
