//! Inputs and constants.

use super::{Config, Rng};
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Module, Shape};

/// Inputs for a module: one literal per array among its parameters, in order.
pub(crate) fn inputs(module: &Module, seed: u64, config: &Config) -> Vec<Literal> {
    let mut rng = Rng::new(seed ^ 0x1234_5678);
    let entry = module.entry_computation();
    let shapes = entry.parameters().into_iter().map(|id| &entry.instructions[id].shape);
    let leaves: Vec<&Shape> = shapes.flat_map(Shape::leaves).collect();
    leaves.into_iter().filter_map(Shape::as_array).map(|shape| literal(&mut rng, shape, config)).collect()
}

/// An array of ordinary numbers, with special ones among them if the configuration says so.
pub(super) fn literal(rng: &mut Rng, shape: &ArrayShape, config: &Config) -> Literal {
    let count = shape.element_count().unwrap_or(0);
    let data = match shape.element_type {
        ElementType::Pred => Data::Pred((0..count).map(|_| rng.chance(50)).collect()),
        ElementType::S32 => Data::S32((0..count).map(|_| signed(rng, config)).collect()),
        ElementType::U32 => {
            Data::U32((0..count).map(|_| signed(rng, config).cast_unsigned() & unsigned_mask(rng)).collect())
        }
        _ => Data::F32((0..count).map(|_| number(rng, config)).collect()),
    };
    Literal::array(shape.extents.clone(), data)
}

fn unsigned_mask(rng: &mut Rng) -> u32 {
    if rng.chance(70) { 0xf } else { u32::MAX }
}

fn signed(rng: &mut Rng, config: &Config) -> i32 {
    match rng.below(20) {
        0 if config.specials => *rng.choose(&[i32::MIN, i32::MAX, -1, 0, 31, 32, 33]).unwrap_or(&0),
        1 | 2 => (rng.next() >> 32) as i32,
        _ => rng.between(-9, 9) as i32,
    }
}

fn number(rng: &mut Rng, config: &Config) -> f32 {
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1e30, 1e-40, f32::MAX];
    match rng.below(20) {
        0 if config.specials && !config.tame => *rng.choose(&special).unwrap_or(&0.0),
        1..10 if !config.tame => (rng.between(-1_000_000, 1_000_000) as f32) * 7.3e-6,
        _ => (rng.between(-16, 16) as f32) * 0.25,
    }
}
