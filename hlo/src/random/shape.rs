//! Random element types, extents and shapes.

use super::body::{Body, ComputationKind};
use super::rng::Rng;
use crate::ir::{ElementType, Shape};

/// The greatest rank.
pub(super) const MAX_RANK: usize = 6;

/// How many elements an array has at most, whatever is asked for, so that products of extents stay small numbers.
pub(super) const MAX_ELEMENTS: i64 = 1 << 20;

impl Body<'_> {
    /// An element type that is among those asked for, one of the module's few most of the time.
    pub(super) fn element_type(&mut self, accepts: impl Fn(ElementType) -> bool) -> Option<ElementType> {
        let of = |types: &[ElementType]| -> Vec<ElementType> {
            types.iter().copied().filter(|&element_type| accepts(element_type)).collect()
        };
        let (few, all) = (of(&self.world.types), of(&self.world.options.types));
        let few = if self.world.rng.chance(75) { few } else { Vec::new() };
        self.world.rng.choose(&few).or_else(|| self.world.rng.choose(&all))
    }

    /// An integer type for indices.
    pub(super) fn index_type(&mut self) -> ElementType {
        let integers: Vec<ElementType> =
            self.world.options.types.iter().copied().filter(|element_type| element_type.is_integer()).collect();
        let any = if self.world.rng.chance(40) { self.world.rng.choose(&integers) } else { None };
        any.unwrap_or(ElementType::S32)
    }

    /// Extents of a new value, those of one of the module's few shapes most of the time.
    pub(super) fn extents(&mut self, least_rank: usize) -> Vec<i64> {
        let elements = self.elements();
        if self.kind == ComputationKind::Region && least_rank == 0 && self.world.rng.chance(80) {
            return Vec::new();
        }
        let fits = |extents: &[i64]| extents.len() >= least_rank && extents.iter().product::<i64>() <= elements;
        if self.world.rng.chance(60) {
            let few: Vec<usize> = (0..self.world.extents.len()).filter(|&at| fits(&self.world.extents[at])).collect();
            if let Some(at) = self.world.rng.choose(&few) {
                return self.world.extents[at].clone();
            }
        }
        let is_empty = self.world.is_empty;
        let any = extents(&mut self.world.rng, elements, is_empty);
        if any.len() >= least_rank {
            return any;
        }
        ranked_extents(&mut self.world.rng, least_rank, elements, is_empty)
    }

    /// The shape of a value to hand around: an array, or a tuple of some.
    pub(super) fn any_shape(&mut self) -> Option<Shape> {
        if self.is_plain {
            let element_type = self.element_type(|_| true)?;
            return Some(Shape::array(element_type, self.extents(0)));
        }
        let count = if self.world.rng.chance(75) { 1 } else { self.world.rng.below(4) };
        let mut elements = Vec::with_capacity(count);
        for _ in 0..count {
            let element_type = self.element_type(|_| true)?;
            elements.push(Shape::array(element_type, self.extents(0)));
        }
        Some(match elements.pop() {
            Some(one) if elements.is_empty() && self.world.rng.chance(90) => one,
            Some(last) => Shape::Tuple(elements.into_iter().chain([last]).collect()),
            None => Shape::Tuple(elements),
        })
    }
}

/// Random extents of any rank up to 6 that come to at most so many elements, often to none if so wished.
pub(super) fn extents(rng: &mut Rng, elements: i64, is_empty: bool) -> Vec<i64> {
    let rank = rng.weighted(&[12, 22, 24, 18, 11, 7, 6]);
    ranked_extents(rng, rank, elements, is_empty)
}

/// Random extents of a rank that come to at most so many elements, often to none if so wished.
pub(super) fn ranked_extents(rng: &mut Rng, rank: usize, elements: i64, is_empty: bool) -> Vec<i64> {
    let mut extents = vec![1; rank];
    let mut room = elements.max(1);
    for dimension in rng.dimensions(rank, rank) {
        extents[dimension] = match rng.weighted(&[if is_empty { 14 } else { 0 }, 24, 72]) {
            0 => 0,
            2 if room > 1 => rng.between(2, room.min(7)),
            _ => 1,
        };
        room /= extents[dimension].max(1);
    }
    extents
}
