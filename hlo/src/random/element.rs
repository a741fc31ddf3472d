//! Random elements: small numbers most of the time, the corners of the type often, and any bits.

use super::rng::Rng;
use crate::eval::reinterpreted;
use crate::ir::{Complex, Data, ElementType, FloatFormat, Literal};

/// An array of random elements.
pub(super) fn array(rng: &mut Rng, element_type: ElementType, extents: &[i64]) -> Literal {
    let count = extents.iter().try_fold(1usize, |count, &extent| count.checked_mul(usize::try_from(extent).ok()?));
    Literal::array(extents, elements(rng, element_type, count.unwrap_or(0)))
}

/// So many random elements.
fn elements(rng: &mut Rng, element_type: ElementType, count: usize) -> Data {
    let part = match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    };
    let same = rng.chance(15).then(|| bits(rng, part));
    // Most arrays are of small numbers throughout, so that specials do not spread to everything.
    let tame = rng.chance(60);
    let mut draw = || match same {
        Some(bits) => bits,
        None if tame => small(rng, part),
        None => bits(rng, part),
    };
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
        _ => rng.next() & mask(element_type),
    }
}

/// A number of small magnitude.
fn small(rng: &mut Rng, element_type: ElementType) -> u64 {
    if element_type == ElementType::Pred {
        return rng.next() & 1;
    }
    let number = rng.between(-4, 8);
    if !element_type.is_float() {
        return number as u64 & mask(element_type);
    }
    // Quarters are exact in most types; the others round them.
    let number = number as f64 / if rng.chance(50) { 1.0 } else { 4.0 };
    match (element_type, FloatFormat::of(element_type)) {
        (_, Some(format)) => u64::from(format.nearest(number).unwrap_or(1)),
        (ElementType::F32, None) => u64::from((number as f32).to_bits()),
        _ => number.to_bits(),
    }
}

/// A corner of the type: NaN, infinity, a zero, the least and the greatest number, the least positive one.
fn special(rng: &mut Rng, element_type: ElementType) -> u64 {
    let (all, negative) = (mask(element_type), rng.chance(50));
    let sign = all ^ (all >> 1);
    if element_type.is_integer() {
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
